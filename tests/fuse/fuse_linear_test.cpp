// fuse_linear: bias, activation and residual in their order, and the uses that must end a chain.
#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

struct Layer {
  Graph g;
  Value x, w, bias, residual;
};

Layer layer() {
  Layer l;
  l.x = f32_input(l.g, "x", {sym::batch(), sym::seq(), 8});
  l.w = f32_param(l.g, "w", {8, 6});
  l.bias = f32_param(l.g, "bias", {6});
  l.residual = f32_input(l.g, "residual", {sym::batch(), sym::seq(), 6});
  return l;
}

struct Expected {
  bool bias = false, residual = false;
  std::string activation = "none";
};

// Exactly one linear with these parts and nothing else but leaves.
void expect_linear(Layer& l, Value y, const Expected& expected) {
  l.g.set_outputs({{"y", y}});
  Graph fused = fuse_linear(l.g);
  const Node* node = only(fused, Op::Linear);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(fused.outputs()[0].value.node, node) << graph::print(fused);
  EXPECT_EQ(node->attributes().integer("bias") != 0, expected.bias);
  EXPECT_EQ(node->attributes().integer("residual") != 0, expected.residual);
  EXPECT_EQ(node->attributes().text("activation"), expected.activation);
  expect_same_results(l.g, fused);
}

TEST(FuseLinear, TakesAMatmulAlone) {
  Layer l = layer();
  expect_linear(l, l.g.matmul(l.x, l.w), {});
}

TEST(FuseLinear, TakesTheBiasOnEitherSide) {
  Layer l = layer();
  expect_linear(l, l.g.add(l.g.matmul(l.x, l.w), l.bias), {.bias = true});
  l = layer();
  expect_linear(l, l.g.add(l.bias, l.g.matmul(l.x, l.w)), {.bias = true});
}

TEST(FuseLinear, TakesABiasWithLeadingOnes) {
  Layer l = layer();
  Value bias = l.g.reshape(l.bias, {1, 1, 6});
  expect_linear(l, l.g.add(l.g.matmul(l.x, l.w), bias), {.bias = true});
}

TEST(FuseLinear, TakesEveryActivation) {
  for (Op op : {Op::Relu, Op::Gelu, Op::GeluTanh, Op::Silu, Op::Tanh, Op::Sigmoid}) {
    Layer l = layer();
    Value y = l.g.unary(op, l.g.add(l.g.matmul(l.x, l.w), l.bias));
    expect_linear(l, y, {.bias = true, .activation = std::string(info(op).text)});
  }
}

TEST(FuseLinear, TakesAnActivationWithoutABias) {
  Layer l = layer();
  expect_linear(l, l.g.relu(l.g.matmul(l.x, l.w)), {.activation = "relu"});
}

TEST(FuseLinear, TakesTheResidualOnEitherSide) {
  Layer l = layer();
  Value sum = l.g.add(l.g.matmul(l.x, l.w), l.bias);
  expect_linear(l, l.g.add(sum, l.residual), {.bias = true, .residual = true});
  l = layer();
  expect_linear(l, l.g.add(l.residual, l.g.matmul(l.x, l.w)), {.residual = true});
}

TEST(FuseLinear, TakesTheResidualAfterTheActivation) {
  Layer l = layer();
  Value act = l.g.gelu(l.g.add(l.g.matmul(l.x, l.w), l.bias));
  expect_linear(l, l.g.add(act, l.residual),
                {.bias = true, .residual = true, .activation = "gelu"});
}

TEST(FuseLinear, CompletesALinearThatIsThereAlready) {
  Layer l = layer();
  Value y = l.g.linear(l.x, l.w, l.bias, {}, Activation::None);
  expect_linear(l, l.g.add(l.g.relu(y), l.residual),
                {.bias = true, .residual = true, .activation = "relu"});
}

TEST(FuseLinear, KeepsAnActivationAfterTheResidualApart) {
  Layer l = layer();
  Value y = l.g.relu(l.g.add(l.g.matmul(l.x, l.w), l.residual));
  l.g.set_outputs({{"y", y}});
  Graph fused = fuse_linear(l.g);
  EXPECT_EQ(only(fused, Op::Linear)->attributes().text("activation"), "none");
  EXPECT_EQ(count(fused, Op::Relu), 1);
  expect_same_results(l.g, fused);
}

TEST(FuseLinear, KeepsABiasAfterTheActivationApart) {
  Layer l = layer();
  l.g.set_outputs({{"y", l.g.add(l.g.relu(l.g.matmul(l.x, l.w)), l.bias)}});
  Graph fused = fuse_linear(l.g);
  EXPECT_EQ(only(fused, Op::Linear)->attributes().integer("bias"), 0);
  EXPECT_EQ(count(fused, Op::Add), 1);
  expect_same_results(l.g, fused);
}

TEST(FuseLinear, EndsAtAValueWithASecondUse) {
  Layer l = layer();
  Value sum = l.g.add(l.g.matmul(l.x, l.w), l.bias);
  l.g.set_outputs({{"y", l.g.mul(l.g.relu(sum), sum)}});
  Graph fused = fuse_linear(l.g);
  EXPECT_EQ(only(fused, Op::Linear)->attributes().integer("bias"), 1);
  EXPECT_EQ(count(fused, Op::Relu), 1);
  expect_same_results(l.g, fused);
}

TEST(FuseLinear, EndsAtAnOutput) {
  Layer l = layer();
  Value product = l.g.matmul(l.x, l.w);
  l.g.set_outputs({{"product", product}, {"y", l.g.add(product, l.bias)}});
  Graph fused = fuse_linear(l.g);
  EXPECT_EQ(only(fused, Op::Linear)->attributes().integer("bias"), 0);
  EXPECT_EQ(count(fused, Op::Add), 1);
  expect_same_results(l.g, fused);
}

TEST(FuseLinear, EndsAtASumWithItself) {
  Layer l = layer();
  Value product = l.g.matmul(l.x, l.w);
  l.g.set_outputs({{"y", l.g.add(product, product)}});
  Graph fused = fuse_linear(l.g);
  EXPECT_EQ(only(fused, Op::Linear)->attributes().integer("residual"), 0);
  EXPECT_EQ(count(fused, Op::Add), 1);
  expect_same_results(l.g, fused);
}

TEST(FuseLinear, MakesTheFirstOfTwoAddedLinearsTheResidualOfTheSecond) {
  Layer l = layer();
  Value v = f32_param(l.g, "v", {8, 6});
  Value first = l.g.matmul(l.x, l.w);
  Value second = l.g.add(l.g.matmul(l.x, v), l.bias);
  l.g.set_outputs({{"y", l.g.add(first, second)}});
  Graph fused = fuse_linear(l.g);
  EXPECT_EQ(count(fused, Op::Linear), 2);
  EXPECT_EQ(count(fused, Op::Add), 0);
  const Node* last = fused.outputs()[0].value.node;
  EXPECT_EQ(last->operand(1), v);
  EXPECT_EQ(last->operand(3).node->operand(1), l.w);
  expect_same_results(l.g, fused);
}

TEST(FuseLinear, KeepsAnAddendThatBroadcastsTheResult) {
  Layer l = layer();
  Value taller = f32_input(l.g, "taller", {5, sym::batch(), sym::seq(), 6});
  Value row = f32_input(l.g, "row", {sym::seq(), 6});
  l.g.set_outputs({{"a", l.g.add(l.g.matmul(l.x, l.w), taller)},
                   {"b", l.g.add(l.g.relu(l.g.matmul(l.x, l.w)), row)}});
  Graph fused = fuse_linear(l.g);
  EXPECT_EQ(count(fused, Op::Add), 2);
  expect_same_results(l.g, fused);
}

TEST(FuseLinear, LeavesBatchedAndIntegerMatmuls) {
  Graph g;
  Value a = f32_input(g, "a", {sym::batch(), 4, 8});
  Value b = f32_input(g, "b", {sym::batch(), 8, 4});
  Value i = g.input("i", {{4, 8}, DType::I32});
  Value j = g.param("j", {{8, 4}, DType::I32});
  g.set_outputs({{"y", g.matmul(a, b)}, {"z", g.matmul(i, j)}});
  Graph fused = fuse_linear(g);
  EXPECT_EQ(count(fused, Op::Linear), 0);
  EXPECT_EQ(count(fused, Op::MatMul), 2);
}

}  // namespace
}  // namespace tenon::fuse
