// The ways in which exporters write rms_norm and silu, and what must be left alone.
#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

struct Written : testing::Test {
  static constexpr int64_t kColumns = 6;
  Graph g;
  const Value x = f32_input(g, "x", {sym::batch(), sym::seq(), kColumns});
  const Value scale = f32_param(g, "scale", {kColumns});

  Value deviation(Value squares) {
    const Value mean = g.reduce(Op::ReduceMean, squares, {-1});
    return g.unary(Op::Sqrt, g.add(f32(g, 1e-3), mean));
  }
  Value inverse() { return g.unary(Op::Reciprocal, deviation(g.mul(x, x))); }

  void expect_rms_norm(Value y) {
    g.set_outputs({{"y", y}});
    const Graph fused = fuse_rms_norm(g);
    const Node* norm = only(fused, Op::RmsNorm);
    ASSERT_TRUE(norm);
    EXPECT_NEAR(norm->attributes().number("epsilon"), 1e-3, 1e-9);
    EXPECT_EQ(fused.topological().size(), 3u);
    expect_same_results(g, fused, 1e-5);
  }
  void expect_none(std::vector<graph::Output> outputs) {
    g.set_outputs(std::move(outputs));
    EXPECT_EQ(count(fuse_rms_norm(g), Op::RmsNorm), 0);
  }
};

TEST_F(Written, PowersAndQuotients) {
  expect_rms_norm(g.mul(scale, g.div(x, deviation(g.binary(Op::Pow, x, f32(g, 2))))));
}
TEST_F(Written, Reciprocals) { expect_rms_norm(g.mul(g.mul(x, inverse()), scale)); }
TEST_F(Written, OneDividedByTheRoot) {
  const Value inverse = g.div(f32(g, 1), deviation(g.mul(x, x)));
  expect_rms_norm(g.mul(g.mul(inverse, x), scale));
}
TEST_F(Written, ScaleBeforeTheRoot) { expect_rms_norm(g.mul(inverse(), g.mul(x, scale))); }

TEST_F(Written, AnInverseThatIsAnOutputIsLeftAlone) {
  expect_none({{"y", g.mul(g.mul(x, inverse()), scale)}, {"inverse", inverse()}});
}
TEST_F(Written, TheDeviationOfAnotherValueIsLeftAlone) {
  const Value other = f32_input(g, "other", {sym::batch(), sym::seq(), kColumns});
  expect_none({{"y", g.mul(g.mul(other, inverse()), scale)}});
}
TEST_F(Written, AScaleForEachRowIsLeftAlone) {
  const Value rows = f32_input(g, "rows", {sym::batch(), sym::seq(), 1});
  expect_none({{"y", g.mul(g.mul(x, inverse()), rows)}});
}

TEST_F(Written, SiluOfItsOwnSigmoidOnly) {
  const Value other = g.unary(Op::Exp, x), gate = g.unary(Op::Sigmoid, x);
  g.set_outputs({{"silu", g.mul(gate, x)}, {"gated", g.mul(gate, other)}});
  const Graph fused = fuse_silu(g);
  EXPECT_EQ(count(fused, Op::Silu), 1);
  EXPECT_EQ(count(fused, Op::Mul), 1);
  expect_same_results(g, fused);
}

}  // namespace
}  // namespace tenon::fuse
