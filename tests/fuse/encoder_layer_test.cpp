// A whole encoder layer as an exporter writes it, through all passes: nothing but the fused ops may
// remain.
#include <cmath>

#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

constexpr int64_t kHeads = 2;
constexpr int64_t kHidden = 8;
constexpr int64_t kFfn = 16;

// Builds with f64, so that the comparison sees the algebra and not the rounding.
class Encoder {
 public:
  Graph build() {
    Value x = g_.input("x", {{sym::batch(), sym::seq(), kHidden}, DType::F64});
    Value mask = g_.input("mask", {{sym::batch(), 1, 1, sym::seq()}, DType::F64});
    Value attended = linear(attention(x, mask), "o", kHidden, kHidden);
    x = layer_norm(g_.add(attended, x), "ln1");
    Value f = gelu(linear(x, "ffn1", kHidden, kFfn));
    x = layer_norm(g_.add(linear(f, "ffn2", kFfn, kHidden), x), "ln2");
    g_.set_outputs({{"y", x}});
    return g_;
  }

 private:
  Value scalar(double value) { return g_.scalar(DType::F64, value); }
  Value param(const std::string& name, Shape shape) {
    return g_.param(name, {std::move(shape), DType::F64});
  }

  Value linear(Value x, const std::string& name, int64_t k, int64_t n) {
    return g_.add(param(name + ".bias", {n}), g_.matmul(x, param(name + ".weight", {k, n})));
  }

  Value heads(Value x, const std::string& name, std::vector<int64_t> perm) {
    Value y = linear(x, name, kHidden, kHidden);
    Value split = g_.reshape(y, {sym::batch(), sym::seq(), kHeads, kHidden / kHeads});
    return g_.transpose(split, std::move(perm));
  }

  Value attention(Value x, Value mask) {
    Value q = heads(x, "q", {0, 2, 1, 3});
    Value k = heads(x, "k", {0, 2, 3, 1});
    Value v = heads(x, "v", {0, 2, 1, 3});
    Value scores = g_.div(g_.matmul(q, k), scalar(std::sqrt(kHidden / kHeads)));
    Value context = g_.matmul(g_.softmax(g_.add(scores, mask), -1), v);
    Value joined = g_.transpose(context, {0, 2, 1, 3});
    return g_.reshape(joined, {sym::batch(), sym::seq(), kHidden});
  }

  Value layer_norm(Value x, const std::string& name) {
    Value d = g_.sub(x, g_.reduce(Op::ReduceMean, x, {-1}));
    Value variance = g_.reduce(Op::ReduceMean, g_.binary(Op::Pow, d, scalar(2)), {-1});
    Value n = g_.div(d, g_.unary(Op::Sqrt, g_.add(variance, scalar(1e-12))));
    return g_.add(g_.mul(n, param(name + ".scale", {kHidden})), param(name + ".bias", {kHidden}));
  }

  Value gelu(Value x) {
    Value e = g_.unary(Op::Erf, g_.div(x, scalar(std::sqrt(2.0))));
    return g_.mul(g_.mul(x, g_.add(e, scalar(1))), scalar(0.5));
  }

  Graph g_;
};

TEST(FuseEncoderLayer, LeavesOnlyTheFusedOps) {
  Graph source = Encoder().build();
  Graph fused = fuse_all(source);
  EXPECT_EQ(count(fused, Op::LayerNorm), 2);
  EXPECT_EQ(count(fused, Op::Attention), 1);
  EXPECT_EQ(count(fused, Op::Linear), 4);
  EXPECT_EQ(count(fused, Op::Slice), 3);
  EXPECT_EQ(count(fused, Op::Concat), 2);
  int leaves = 0;
  for (const Node* node : fused.topological()) leaves += has(node->op(), graph::kLeaf);
  EXPECT_EQ(fused.topological().size(), static_cast<size_t>(leaves) + 2 + 1 + 4 + 3 + 2)
      << graph::print(fused);
}

TEST(FuseEncoderLayer, ComputesTheSame) {
  Graph source = Encoder().build();
  expect_same_results(source, fuse_all(source), 1e-9);
}

TEST(FuseEncoderLayer, IsStableUnderASecondRun) {
  Graph fused = fuse_all(Encoder().build());
  EXPECT_EQ(graph::print(fuse_all(fused)), graph::print(fused));
}

TEST(FusionReport, CountsEachPatternBeforeAndAfter) {
  Graph source = Encoder().build();
  FusionReport report = fusion_report(source, fuse_all(source));
  EXPECT_EQ(report.found("fused_gelu"), 1);
  EXPECT_EQ(report.found("fused_layer_norm"), 2);
  EXPECT_EQ(report.found("fused_attention"), 1);
  EXPECT_EQ(report.found("fused_matmul"), 4);
  EXPECT_EQ(report.found("fused_matmul_bias_act"), 4);
  EXPECT_EQ(report.found("fused_matmul_residual"), 2);
  EXPECT_EQ(report.found("fused_shared_input"), 1);
  EXPECT_EQ(report.found("fused_softmax"), 0);  // attention has it
  EXPECT_EQ(report.found("fused_residual_norm"), 2);
  for (const FusionReport::Count& row : report.counts)
    EXPECT_EQ(row.before, row.pattern == "fused_softmax" ? 1 : 0) << row.pattern;
}

TEST(FusionReport, PrintsOneRowPerPattern) {
  Graph source = Encoder().build();
  std::string text = fusion_report(source, fuse_all(source)).to_string();
  EXPECT_NE(text.find("pattern                   before   after\n"), std::string::npos) << text;
  EXPECT_NE(text.find("fused_attention                0       1\n"), std::string::npos) << text;
}

TEST(Fusion, DoesNotRecurseOverTheDepthOfAGraph) {
  Graph g;
  Value x = f32_input(g, "x", {sym::batch(), 4});
  for (int i = 0; i < 20000; ++i) x = g.mul(g.unary(Op::Sqrt, g.unary(Op::Erf, x)), x);
  g.set_outputs({{"y", x}});
  EXPECT_EQ(fuse_all(g).topological().size(), g.topological().size());
}

}  // namespace
}  // namespace tenon::fuse
