// What the report says of patterns that were missed, and how it is written.
#include <algorithm>

#include "base/error.h"
#include "legalize/decompose_fused.h"
#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

FusionReport report_of(const Graph& g) { return fusion_report(g, fuse_all(g)); }

// Scores of one head, which `also` may give out.
Graph attention(bool also) {
  Graph g;
  const auto heads = [&](const char* name, std::vector<int64_t> perm) {
    const Value x = f32_input(g, name, {sym::batch(), sym::seq(), 8});
    return g.transpose(g.reshape(x, {sym::batch(), sym::seq(), 2, 4}), std::move(perm));
  };
  const Value q = heads("q", {0, 2, 1, 3}), k = heads("k", {0, 2, 3, 1});
  g.set_current_origin("layer \"0\"");
  const Value scores = g.mul(g.matmul(q, k), f32(g, 0.5));
  const Value context = g.matmul(g.softmax(scores, 3), heads("v", {0, 2, 1, 3}));
  const Value joined = g.transpose(context, {0, 2, 1, 3});
  const Value y = g.reshape(joined, {sym::batch(), sym::seq(), 8});
  std::vector<graph::Output> outputs = {{"y", y}};
  if (also) outputs.push_back({"scores", scores});
  g.set_outputs(std::move(outputs));
  return g;
}

// Each pattern but attention and rotary once, written out.
Graph all_patterns() {
  Graph g;
  const Value x = f32_input(g, "x", {sym::batch(), sym::seq(), 4});
  const Value s = f32_param(g, "s", {4}), w = f32_param(g, "w", {4, 4});
  const Value gelu = g.mul(g.mul(x, f32(g, 0.5)),
                           g.add(g.unary(Op::Erf, g.mul(x, f32(g, 0.70710678))), f32(g, 1)));
  const Value silu = g.mul(x, g.unary(Op::Sigmoid, x));
  const Value powers = g.unary(Op::Exp, g.sub(x, g.reduce(Op::ReduceMax, x, {2})));
  const Value softmax = g.div(powers, g.reduce(Op::ReduceSum, powers, {2}));
  const auto normed = [&](Value v) {
    const Value mean = g.reduce(Op::ReduceMean, g.mul(v, v), {2});
    return g.mul(g.div(v, g.unary(Op::Sqrt, g.add(mean, f32(g, 1e-5)))), s);
  };
  const Value centred = g.sub(x, g.reduce(Op::ReduceMean, x, {2}));
  const Value linear = g.add(g.matmul(x, w), s);
  const Value gate = g.matmul(x, f32_param(g, "gate", {4, 4}));
  const Value gated = g.mul(g.unary(Op::Relu, gate), g.matmul(x, f32_param(g, "up", {4, 4})));
  g.set_outputs({{"gelu", gelu},
                 {"silu", silu},
                 {"softmax", softmax},
                 {"rms_norm", normed(x)},
                 {"layer_norm", g.add(normed(centred), s)},
                 {"linear", linear},
                 {"gated", gated}});
  return g;
}

TEST(MissedFusions, AreNoneWhereEverythingIsFused) {
  const FusionReport report = report_of(attention(false));
  EXPECT_EQ(report.found("fused_attention"), 1);
  EXPECT_TRUE(report.missed.empty()) << report.to_string();
  EXPECT_NO_THROW(check_fusion_clean(report));
}

TEST(MissedFusions, ScoresThatSomethingElseNeeds) {
  const FusionReport report = report_of(attention(true));
  ASSERT_EQ(report.missed.size(), 1u) << report.to_string();
  EXPECT_EQ(report.missed[0].pattern, "fused_attention");
  EXPECT_EQ(report.missed[0].origin, "layer \"0\"");
  EXPECT_EQ(report.missed[0].reason, "its scores are needed elsewhere");
  try {
    check_fusion_clean(report);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find(report.to_string()), std::string::npos);
  }
}

TEST(MissedFusions, ABiasOfAnotherShape) {
  Graph g;
  const Value x = f32_input(g, "x", {sym::batch(), sym::seq(), 4});
  const Value y = g.matmul(x, f32_param(g, "w", {4, 6}));
  g.set_outputs({{"y", g.add(y, f32_param(g, "b", {1}))}});
  const FusionReport report = report_of(g);
  ASSERT_EQ(report.missed.size(), 1u) << report.to_string();
  EXPECT_EQ(report.missed[0].pattern, "fused_matmul_bias_act");
}

TEST(MissedFusions, AGateWithABias) {
  Graph g;
  const Value x = f32_input(g, "x", {sym::batch(), sym::seq(), 4});
  const Value gate = g.add(g.matmul(x, f32_param(g, "g", {4, 6})), f32_param(g, "b", {6}));
  const Value up = g.matmul(x, f32_param(g, "u", {4, 6}));
  g.set_outputs({{"y", g.mul(g.unary(Op::Silu, gate), up)}});
  const FusionReport report = report_of(g);
  ASSERT_EQ(report.missed.size(), 1u) << report.to_string();
  EXPECT_EQ(report.missed[0].pattern, "fused_swiglu");
  EXPECT_EQ(report.missed[0].reason, "gate or up has a bias");
}

TEST(MissedFusions, WhatLegalizationTookApart) {
  Graph g;
  const Value x = f32_input(g, "x", {sym::batch(), sym::seq(), 4});
  g.set_current_origin("norm");
  g.set_outputs({{"y", g.rms_norm(x, f32_param(g, "s", {4}), 1e-5)}});
  const Graph apart =
      graph::rebuild(g, [](Graph& to, const Node& node, std::span<const Value> operands) {
        return legalize::decompose_fused(to, node, operands);
      });
  const FusionReport report = fusion_report(g, apart);
  EXPECT_EQ(report.found("fused_rms_norm"), 0);
  ASSERT_EQ(report.missed.size(), 1u) << report.to_string();
  EXPECT_EQ(report.missed[0].origin, "norm");
  EXPECT_EQ(report.missed[0].reason, "it, or a part of it, was taken apart or not looked for");
}

graph::Claims all_but(std::vector<Op> ops) {
  return {"plain",
          [ops](const Node& node) { return std::ranges::find(ops, node.op()) == ops.end(); }};
}

TEST(Claims, WhatIsNotClaimedIsNotFused) {
  const Graph g = attention(false);
  const graph::Claims claims = all_but({Op::Attention});
  const Graph fused = fuse_all(g, claims);
  EXPECT_EQ(digest(fused), digest(g));
  const FusionReport report = fusion_report(g, fused, claims);
  ASSERT_EQ(report.missed.size(), 1u) << report.to_string();
  EXPECT_EQ(report.missed[0].pattern, "fused_attention");
  EXPECT_EQ(report.missed[0].origin, "layer \"0\"");
  EXPECT_EQ(report.missed[0].reason, "not claimed by plain");
}

TEST(Claims, AreAskedByEveryPass) {
  const Graph source = all_patterns();
  const Graph whole = fuse_all(source);
  for (const Op op :
       {Op::Gelu, Op::Silu, Op::Softmax, Op::LayerNorm, Op::RmsNorm, Op::Linear, Op::GatedLinear}) {
    EXPECT_GT(count(whole, op), 0) << graph::info(op).text;
    const Graph fused = fuse_all(source, all_but({op}));
    EXPECT_EQ(count(fused, op), 0) << graph::info(op).text;
    expect_same_results(source, fused);
  }
}

// Of what is fused of others, each that is not claimed is told.
TEST(Claims, PatternsOfPatternsAreMissedTogether) {
  const Graph source = all_patterns();
  const graph::Claims claims = all_but({Op::Linear, Op::GatedLinear});
  const FusionReport report = fusion_report(source, fuse_all(source, claims), claims);
  const auto missed = [&](std::string_view pattern) {
    return std::ranges::count_if(report.missed, [&](const FusionReport::Missed& each) {
      return each.pattern == pattern && each.reason == "not claimed by plain";
    });
  };
  EXPECT_EQ(missed("fused_matmul_bias_act"), 2) << report.to_string();
  EXPECT_EQ(missed("fused_matmul"), 1) << report.to_string();
  EXPECT_EQ(missed("fused_swiglu"), 1) << report.to_string();
}

// One that the backend does not take, and one that is none: an erf is given out.
TEST(MissedFusions, OneHidesNoOther) {
  Graph g;
  const auto gelu = [&](const char* name, std::vector<graph::Output> outputs) {
    const Value x = f32_input(g, name, {sym::batch(), 4});
    const Value erf = g.unary(Op::Erf, g.mul(x, f32(g, 0.70710678)));
    outputs.push_back({name, g.mul(g.mul(x, f32(g, 0.5)), g.add(erf, f32(g, 1)))});
    if (outputs.size() > 1) outputs.push_back({"erf", erf});
    return outputs;
  };
  g.set_outputs(gelu("b", gelu("a", {})));
  const graph::Claims claims = all_but({Op::Gelu});
  const FusionReport report = fusion_report(g, fuse_all(g, claims), claims);
  ASSERT_EQ(report.missed.size(), 2u) << report.to_string();
  EXPECT_EQ(report.missed[0].reason, "not claimed by plain");
  EXPECT_NE(report.missed[1].reason, "not claimed by plain");
}

// Two linears of one input and a residual, by who skipped what.
TEST(MissedFusions, LinearsThatStayApart) {
  Graph g;
  const Value x = f32_input(g, "x", {sym::batch(), sym::seq(), 4});
  const auto linear = [&](const char* w, Value residual) {
    return g.linear(x, f32_param(g, w, {4, 4}), {}, residual, Activation::None);
  };
  const Value a = linear("a", {}), b = linear("b", {});
  g.set_outputs({{"a", a}, {"b", b}, {"c", g.add(linear("c", {}), a)}});
  const FusionReport apart = fusion_report(g, g);
  ASSERT_EQ(apart.missed.size(), 2u) << apart.to_string();
  EXPECT_EQ(apart.missed[0].pattern, "fused_matmul_residual");
  EXPECT_EQ(apart.missed[1].pattern, "fused_shared_input");
  EXPECT_TRUE(report_of(g).missed.empty()) << report_of(g).to_string();
}

TEST(MissedFusions, SoftmaxWithoutItsMaximum) {
  Graph g;
  const Value x = f32_input(g, "x", {sym::batch(), 4});
  const Value powers = g.unary(Op::Exp, x);
  g.set_outputs({{"y", g.div(powers, g.reduce(Op::ReduceSum, powers, {1}))}});
  const FusionReport report = report_of(g);
  ASSERT_EQ(report.missed.size(), 1u) << report.to_string();
  EXPECT_EQ(report.missed[0].pattern, "fused_softmax");
}

// A layer_norm of x @ w + x, where x @ w may be given out, too, and the sum is.
Graph normed_sum(bool product_given_out) {
  Graph g;
  const Value x = f32_input(g, "x", {sym::batch(), sym::seq(), 4});
  const Value product = g.matmul(x, f32_param(g, "w", {4, 4}));
  const Value sum = g.add(product, x);
  const Value y = g.layer_norm(sum, f32_param(g, "s", {4}), f32_param(g, "b", {4}), 1e-5);
  std::vector<graph::Output> outputs = {{"y", y}, {"sum", sum}};
  if (product_given_out) outputs.push_back({"product", product});
  g.set_outputs(std::move(outputs));
  return g;
}

TEST(FusionReport, CountsNormsOfSumsThatLinearsMake) {
  const FusionReport fused = report_of(normed_sum(false));
  EXPECT_EQ(fused.found("fused_residual_norm"), 1);
  EXPECT_TRUE(fused.missed.empty()) << fused.to_string();
  const FusionReport report = report_of(normed_sum(true));
  EXPECT_EQ(report.found("fused_residual_norm"), 0);
  ASSERT_EQ(report.missed.size(), 1u) << report.to_string();
  EXPECT_EQ(report.missed[0].pattern, "fused_residual_norm");
}

TEST(FusionReport, IsJson) {
  FusionReport report;
  report.counts = {{"fused_gelu", 2, 1}};
  report.missed = {{"fused_attention", "a \"b\"\n", "because", "do"}};
  EXPECT_EQ(report.to_json(),
            R"({"counts": [{"pattern": "fused_gelu", "before": 1, "found": 2}], )"
            R"("missed": [{"pattern": "fused_attention", "origin": "a \"b\"\u000a", )"
            R"("reason": "because", "hint": "do"}]})");
}

}  // namespace
}  // namespace tenon::fuse
