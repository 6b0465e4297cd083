// What the report says of patterns that were missed, and how it is written.
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
  EXPECT_EQ(report.missed[0].reason, "the backend has no kernel for this form of it");
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
