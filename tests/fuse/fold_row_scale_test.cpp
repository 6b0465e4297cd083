// fold_row_scale: the norm goes into the linears that read it, and stays where something else does.
#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

struct Normalized {
  Graph g;
  Value x, normal;
};

Normalized normalized(DType dtype = DType::F32) {
  Normalized n;
  n.x = n.g.input("x", {{sym::batch(), sym::seq(), 8}, dtype});
  n.normal = n.g.rms_norm(n.x, n.g.param("scale", {{8}, dtype}), 1e-3);
  return n;
}

TEST(FoldRowScale, LinearsOfOneNormShareItsRowScale) {
  Normalized n = normalized();
  Graph& g = n.g;
  const Value gate = f32_param(g, "gate", {8, 6}), up = f32_param(g, "up", {8, 6});
  const Value w = f32_param(g, "w", {8, 5}), bias = f32_param(g, "bias", {5});
  const Value residual = f32_input(g, "r", {sym::batch(), sym::seq(), 5});
  g.set_outputs({{"gated", g.gated_linear(n.normal, gate, up, Activation::Silu)},
                 {"plain", g.linear(n.normal, w, bias, residual, Activation::Relu)}});
  const Graph folded = fold_row_scale(g);
  EXPECT_EQ(count(folded, Op::RmsNorm), 0);
  EXPECT_EQ(count(folded, Op::ReduceMean), 1);
  EXPECT_EQ(only(folded, Op::Linear)->operand(0).op(), Op::Input);
  EXPECT_EQ(only(folded, Op::Linear)->operands().back(),
            only(folded, Op::GatedLinear)->operands().back());
  expect_same_results(g, folded, 1e-5);
}

TEST(FoldRowScale, ANormThatIsReadOtherwiseStays) {
  Normalized n = normalized();
  Graph& g = n.g;
  const Value y = g.linear(n.normal, f32_param(g, "w", {8, 8}), {}, {}, Activation::None);
  Graph as_output = g, as_sum = g;
  as_output.set_outputs({{"y", y}, {"normal", n.normal}});
  as_sum.set_outputs({{"y", as_sum.add(y, n.normal)}});
  for (const Graph& kept : {as_output, as_sum}) {
    EXPECT_EQ(count(fold_row_scale(kept), Op::RmsNorm), 1);
  }
}

TEST(FoldRowScale, WeightsOfARunAreNotScaledByEveryRun) {
  Normalized n = normalized();
  Graph& g = n.g;
  const Value w = f32_input(g, "w", {8, 8});
  g.set_outputs({{"y", g.linear(n.normal, w, {}, {}, Activation::None)}});
  EXPECT_EQ(count(fold_row_scale(g), Op::RmsNorm), 1);
}

TEST(FoldRowScale, ANarrowFloatIsTooCoarseForAScale) {
  Normalized n = normalized(DType::BF16);
  Graph& g = n.g;
  const Value w = g.param("w", {{8, 8}, DType::BF16});
  g.set_outputs({{"y", g.linear(n.normal, w, {}, {}, Activation::None)}});
  EXPECT_EQ(count(fold_row_scale(g), Op::RmsNorm), 1);
}

}  // namespace
}  // namespace tenon::fuse
