// fuse_layer_norm on the forms that exporters write, and on what only looks like a layer norm.
#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

// The pieces of a written-out norm; each test puts them together in its own way.
struct Pieces {
  Graph g;
  Value x, scale, bias, centred, root;
};

struct Form {
  Shape vector = {8};   // of scale and bias
  int64_t axis = -1;    // of the means
  double exponent = 0;  // of the square; 0: a product
  bool epsilon_first = false;
  double epsilon = 1e-5;
};

Pieces pieces(const Form& form = {}) {
  Pieces p;
  Graph& g = p.g;
  p.x = f32_input(g, "x", {sym::batch(), sym::seq(), 8});
  p.scale = f32_param(g, "scale", form.vector);
  p.bias = f32_param(g, "bias", form.vector);
  p.centred = g.sub(p.x, g.reduce(Op::ReduceMean, p.x, {form.axis}));
  Value square = form.exponent == 0 ? g.mul(p.centred, p.centred)
                                    : g.binary(Op::Pow, p.centred, f32(g, form.exponent));
  Value variance = g.reduce(Op::ReduceMean, square, {form.axis});
  Value epsilon = f32(g, form.epsilon);
  Value sum = form.epsilon_first ? g.add(epsilon, variance) : g.add(variance, epsilon);
  p.root = g.unary(Op::Sqrt, sum);
  return p;
}

Value normalized(Pieces& p) { return p.g.div(p.centred, p.root); }

void expect_norm(Pieces p, Value y, double epsilon = 1e-5) {
  p.g.set_outputs({{"y", y}});
  Graph fused = fuse_layer_norm(p.g);
  const Node* norm = only(fused, Op::LayerNorm);
  ASSERT_NE(norm, nullptr);
  EXPECT_EQ(norm->operand(0), p.x);
  EXPECT_NEAR(norm->attributes().number("epsilon"), epsilon, 1e-6 * epsilon);
  EXPECT_EQ(count(fused, Op::Sqrt), 0) << graph::print(fused);
  expect_same_results(p.g, fused);
}

void expect_no_norm(Pieces p, Value y) {
  p.g.set_outputs({{"y", y}});
  EXPECT_EQ(count(fuse_layer_norm(p.g), Op::LayerNorm), 0);
}

TEST(FuseLayerNorm, FindsTheFormOfTorch) {
  Pieces p = pieces({.exponent = 2, .epsilon = 1e-12});
  Value y = p.g.add(p.g.mul(normalized(p), p.scale), p.bias);
  expect_norm(std::move(p), y, 1e-12);
}

TEST(FuseLayerNorm, FindsEveryOperandOrder) {
  Pieces p = pieces({.epsilon_first = true});
  Value y = p.g.add(p.bias, p.g.mul(p.scale, normalized(p)));
  expect_norm(std::move(p), y);
}

TEST(FuseLayerNorm, FindsTheReciprocal) {
  Pieces p = pieces();
  Value inverse = p.g.unary(Op::Reciprocal, p.root);
  Value y = p.g.add(p.g.mul(p.g.mul(p.centred, inverse), p.scale), p.bias);
  expect_norm(std::move(p), y);
  p = pieces();
  inverse = p.g.div(f32(p.g, 1), p.root);
  y = p.g.add(p.g.mul(p.g.mul(inverse, p.centred), p.scale), p.bias);
  expect_norm(std::move(p), y);
}

TEST(FuseLayerNorm, FindsTheScaleMultipliedFirst) {
  Pieces p = pieces();
  Value y = p.g.add(p.g.div(p.g.mul(p.scale, p.centred), p.root), p.bias);
  expect_norm(std::move(p), y);
  p = pieces();
  Value inverse = p.g.unary(Op::Reciprocal, p.root);
  y = p.g.add(p.g.mul(p.centred, p.g.mul(inverse, p.scale)), p.bias);
  expect_norm(std::move(p), y);
  p = pieces();
  y = p.g.add(p.g.mul(p.centred, p.g.div(p.scale, p.root)), p.bias);
  expect_norm(std::move(p), y);
}

TEST(FuseLayerNorm, ReshapesScaleAndBiasToVectors) {
  Pieces p = pieces({.vector = {1, 1, 8}});
  Value y = p.g.add(p.g.mul(normalized(p), p.scale), p.bias);
  expect_norm(std::move(p), y);
}

TEST(FuseLayerNorm, ReplacesTwoScalingsOfOneNormalization) {
  Pieces p = pieces();
  Value n = normalized(p);
  p.g.set_outputs(
      {{"a", p.g.add(p.g.mul(n, p.scale), p.bias)}, {"b", p.g.add(p.g.mul(n, p.bias), p.scale)}});
  Graph fused = fuse_layer_norm(p.g);
  EXPECT_EQ(count(fused, Op::LayerNorm), 2);
  EXPECT_EQ(count(fused, Op::Sqrt), 0);
  expect_same_results(p.g, fused);
}

TEST(FuseLayerNorm, LeavesWhatAnOutputNeedsAnyway) {
  Pieces p = pieces();
  Value n = normalized(p);
  p.g.set_outputs({{"y", p.g.add(p.g.mul(n, p.scale), p.bias)}, {"n", n}});
  EXPECT_EQ(count(fuse_layer_norm(p.g), Op::LayerNorm), 0);
}

TEST(FuseLayerNorm, FusesWhenOnlyTheMeanIsNeededElsewhere) {
  Pieces p = pieces();
  Value y = p.g.add(p.g.mul(normalized(p), p.scale), p.bias);
  p.g.set_outputs({{"y", y}, {"mean", p.g.reduce(Op::ReduceMean, p.x, {-1})}});
  Graph fused = fuse_layer_norm(p.g);
  EXPECT_EQ(count(fused, Op::LayerNorm), 1);
  expect_same_results(p.g, fused);
}

TEST(FuseLayerNorm, LeavesAnotherAxis) {
  Pieces p = pieces({.axis = 1});
  Value y = p.g.add(p.g.mul(normalized(p), p.scale), p.bias);
  expect_no_norm(std::move(p), y);
}

TEST(FuseLayerNorm, LeavesAnotherPower) {
  Pieces p = pieces({.exponent = 2.5});
  Value y = p.g.add(p.g.mul(normalized(p), p.scale), p.bias);
  expect_no_norm(std::move(p), y);
}

TEST(FuseLayerNorm, LeavesScalesThatAreNoVectors) {
  Pieces p = pieces({.vector = {3, 8}});
  Value y = p.g.add(p.g.mul(normalized(p), p.scale), p.bias);
  p.g.set_outputs({{"y", y}});
  EXPECT_EQ(count(fuse_layer_norm(p.g), Op::LayerNorm), 0);
}

TEST(FuseLayerNorm, LeavesTheRootMultipliedInsteadOfDivided) {
  Pieces p = pieces();
  Value y = p.g.add(p.g.mul(p.g.mul(p.centred, p.root), p.scale), p.bias);
  expect_no_norm(std::move(p), y);
  p = pieces();
  y = p.g.add(p.g.mul(p.g.div(p.root, p.centred), p.scale), p.bias);
  expect_no_norm(std::move(p), y);
}

TEST(FuseLayerNorm, LeavesTheCentredValueInvertedWithTheRoot) {
  Pieces p = pieces();
  Value inverse = p.g.unary(Op::Reciprocal, p.g.mul(p.centred, p.root));
  Value y = p.g.add(p.g.mul(inverse, p.scale), p.bias);
  expect_no_norm(std::move(p), y);
}

TEST(FuseLayerNorm, LeavesAnUncentredNumerator) {
  Pieces p = pieces();
  Value y = p.g.add(p.g.mul(p.g.div(p.x, p.root), p.scale), p.bias);
  expect_no_norm(std::move(p), y);
}

}  // namespace
}  // namespace tenon::fuse
