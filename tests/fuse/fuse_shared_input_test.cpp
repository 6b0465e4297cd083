// fuse_shared_input: which linears become one, that their slices are the right columns, and which
// stay apart.
#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

struct Inputs {
  Graph g;
  Value x;
};

Inputs inputs() {
  Inputs in;
  in.x = f32_input(in.g, "x", {sym::batch(), sym::seq(), 8});
  return in;
}

// A linear of x with parameters of its own.
Value projection(Graph& g, Value x, const std::string& name, const Dim& n, bool bias = true,
                 Activation activation = Activation::None) {
  Value w = f32_param(g, name + ".w", {8, n});
  Value b = bias ? f32_param(g, name + ".b", {n}) : Value{};
  return g.linear(x, w, b, {}, activation);
}

TEST(FuseSharedInput, MakesOneLinearOfThreeAndSlicesItsColumns) {
  Inputs in = inputs();
  Graph& g = in.g;
  g.set_outputs({{"q", projection(g, in.x, "q", 8)},
                 {"k", projection(g, in.x, "k", 4)},
                 {"v", projection(g, in.x, "v", 5)}});
  Graph fused = fuse_shared_input(g);
  const Node* wide = only(fused, Op::Linear);
  ASSERT_NE(wide, nullptr);
  EXPECT_EQ(wide->types()[0].shape, (Shape{sym::batch(), sym::seq(), 17}));
  EXPECT_EQ(count(fused, Op::Slice), 3);
  EXPECT_EQ(count(fused, Op::Concat), 2);
  expect_same_results(g, fused);
}

TEST(FuseSharedInput, WorksWithoutBiasAndKeepsTheActivation) {
  Inputs in = inputs();
  Graph& g = in.g;
  g.set_outputs({{"a", projection(g, in.x, "a", 4, false, Activation::Silu)},
                 {"b", projection(g, in.x, "b", 4, false, Activation::Silu)}});
  Graph fused = fuse_shared_input(g);
  EXPECT_EQ(only(fused, Op::Linear)->attributes().text("activation"), "silu");
  expect_same_results(g, fused);
}

TEST(FuseSharedInput, TakesWeightsComputedFromParameters) {
  Inputs in = inputs();
  Graph& g = in.g;
  Value w = g.transpose(f32_param(g, "rows", {4, 8}), {1, 0});
  g.set_outputs({{"a", projection(g, in.x, "a", 4, false)},
                 {"b", g.linear(in.x, w, {}, {}, Activation::None)}});
  Graph fused = fuse_shared_input(g);
  EXPECT_EQ(count(fused, Op::Linear), 1);
  expect_same_results(g, fused);
}

TEST(FuseSharedInput, KeepsEachGroupToItself) {
  Inputs in = inputs();
  Graph& g = in.g;
  Value y = g.relu(in.x);
  g.set_outputs({{"a", projection(g, in.x, "a", 4)},
                 {"b", projection(g, in.x, "b", 4)},
                 {"c", projection(g, y, "c", 4)},
                 {"d", projection(g, y, "d", 4)}});
  Graph fused = fuse_shared_input(g);
  EXPECT_EQ(count(fused, Op::Linear), 2);
  expect_same_results(g, fused);
}

TEST(FuseSharedInput, WorksWhereAGroupFeedsAnother) {
  Inputs in = inputs();
  Graph& g = in.g;
  Value a = projection(g, in.x, "a", 8);
  Value b = projection(g, in.x, "b", 8);
  Value y = g.mul(a, b);
  g.set_outputs({{"c", projection(g, y, "c", 4)}, {"d", projection(g, y, "d", 4)}});
  Graph fused = fuse_shared_input(g);
  EXPECT_EQ(count(fused, Op::Linear), 2);
  expect_same_results(g, fused);
}

TEST(FuseSharedInput, LeavesSingletonsAlone) {
  Inputs in = inputs();
  Graph& g = in.g;
  Value a = projection(g, in.x, "a", 8);
  g.set_outputs({{"b", projection(g, a, "b", 8)}});
  Graph fused = fuse_shared_input(g);
  EXPECT_EQ(graph::print(fused), graph::print(g));
}

TEST(FuseSharedInput, KeepsDifferentActivationsAndBiasesApart) {
  Inputs in = inputs();
  Graph& g = in.g;
  g.set_outputs({{"a", projection(g, in.x, "a", 4)},
                 {"b", projection(g, in.x, "b", 4, false)},
                 {"c", projection(g, in.x, "c", 4, true, Activation::Relu)}});
  EXPECT_EQ(count(fuse_shared_input(g), Op::Linear), 3);
}

TEST(FuseSharedInput, LeavesWeightsOfBytes) {
  Inputs in = inputs();
  Graph& g = in.g;
  const auto quantized = [&](const std::string& name, int64_t columns) {
    const Value bytes = g.param(name, {{8, columns}, DType::I8});
    const Value w = g.mul(g.cast(bytes, DType::F32), f32_param(g, name + ".scale", {columns}));
    return g.linear(in.x, w, {}, {}, Activation::None);
  };
  g.set_outputs({{"a", quantized("a", 4)}, {"b", quantized("b", 3)}});
  const Graph fused = fuse_shared_input(g);
  EXPECT_EQ(count(fused, Op::Linear), 2);
  EXPECT_EQ(fusion_report(g, fused).found("fused_dequantize_matmul"), 2);
}

TEST(FuseSharedInput, LeavesResidualsAndComputedWeights) {
  Inputs in = inputs();
  Graph& g = in.g;
  Value residual = f32_input(g, "residual", {sym::batch(), sym::seq(), 4});
  Value w = f32_input(g, "w", {8, 4});
  Value plain = g.linear(in.x, f32_param(g, "u", {8, 4}), {}, residual, Activation::None);
  g.set_outputs({{"a", projection(g, in.x, "a", 4, false)},
                 {"b", g.linear(in.x, w, {}, {}, Activation::None)},
                 {"c", plain}});
  EXPECT_EQ(count(fuse_shared_input(g), Op::Linear), 3);
}

TEST(FuseSharedInput, LeavesASymbolicNumberOfColumns) {
  Inputs in = inputs();
  Graph& g = in.g;
  g.set_outputs({{"a", projection(g, in.x, "a", sym::seq(), false)},
                 {"b", projection(g, in.x, "b", 4, false)}});
  EXPECT_EQ(count(fuse_shared_input(g), Op::Linear), 2);
}

TEST(FuseSharedInput, KeepsOriginsOnSlicesAndOnTheWideLinear) {
  Inputs in = inputs();
  Graph& g = in.g;
  Value q = projection(g, in.x, "q", 4);
  Value k = projection(g, in.x, "k", 4);
  g.set_origin(q.node, "q_proj");
  g.set_origin(k.node, "k_proj");
  g.set_outputs({{"q", q}, {"k", k}});
  Graph fused = fuse_shared_input(g);
  EXPECT_EQ(fused.origin(fused.outputs()[0].value.node), "q_proj");
  EXPECT_EQ(fused.origin(fused.outputs()[1].value.node), "k_proj");
  EXPECT_EQ(fused.origin(only(fused, Op::Linear)), "q_proj");
}

}  // namespace
}  // namespace tenon::fuse
