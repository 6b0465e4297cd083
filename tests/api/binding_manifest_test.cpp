// BindingManifest: names, types and places, counted by hand.
#include "tenon/binding_manifest.h"

#include <gtest/gtest.h>

#include "tenon/tenon.h"

namespace tenon {
namespace {

// Declared in an order that is not that of their names.
LirModule lir() {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 3}, DType::F32});
  const Value ids = g.input("ids", {{5}, DType::I64});
  const Value a = g.input("a", {{sym::batch()}, DType::U8});
  const Value w = g.param("w", {{3, 20}, DType::F32});
  const Value bias = g.param("bias", {{20}, DType::F32});
  g.set_outputs({{"y", g.linear(x, w, bias)},
                 {"next", g.add(ids, g.scalar(DType::I64, 1))},
                 {"b", g.cast(a, DType::F32)}});
  return CompilePipeline().compile_graph(g).lir;
}

TEST(BindingManifest, HasTensorsInTheOrderOfDeclarationEachAlignedTo64) {
  const BindingManifest manifest = BindingManifest::of(lir().specialize({{"batch", 6}}));
  using List = std::vector<BindingManifest::Tensor>;
  EXPECT_EQ(manifest.inputs, (List{{"x", DType::F32, {6, 3}, 72, 0},
                                   {"ids", DType::I64, {5}, 40, 128},
                                   {"a", DType::U8, {6}, 6, 192}}));
  EXPECT_EQ(manifest.params,
            (List{{"w", DType::F32, {3, 20}, 240, 0}, {"bias", DType::F32, {20}, 80, 256}}));
  EXPECT_EQ(manifest.outputs, (List{{"y", DType::F32, {6, 20}, 480, 0},
                                    {"next", DType::I64, {5}, 40, 512},
                                    {"b", DType::F32, {6}, 24, 576}}));
  EXPECT_EQ(BindingManifest::bytes_of(manifest.inputs), Dim(198));
  EXPECT_EQ(BindingManifest::bytes_of(manifest.outputs), Dim(600));
  EXPECT_EQ(BindingManifest::bytes_of({}), Dim(0));
  EXPECT_EQ(manifest.kAlignment, 64);
}

TEST(BindingManifest, OfSymbolicExtentsAreFormulas) {
  const LirModule symbolic = lir();
  const BindingManifest manifest = BindingManifest::of(symbolic);
  const BindingManifest::Tensor &x = manifest.inputs[0], &a = manifest.inputs[2];
  const Dim batch = sym::batch();
  EXPECT_EQ(x.name, "x");
  EXPECT_EQ(x.dtype, DType::F32);
  EXPECT_EQ(x.shape, (Shape{batch, 3}));
  EXPECT_EQ(x.bytes, batch * 12);
  EXPECT_TRUE(x.offset.is_const(0));
  EXPECT_FALSE(a.offset.is_const());
  const auto six = [](const Symbol &) { return std::optional<int64_t>(6); };
  EXPECT_EQ(a.offset.evaluate(six), 192);  // as with the value
  EXPECT_EQ(manifest.params, BindingManifest::of(symbolic.specialize({{"batch", 6}})).params);
}

TEST(BindingManifest, ReadsAsALineForEachTensor) {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), 4}, DType::F32});
  g.set_outputs({{"y", g.mul(x, g.param("w", {{4}, DType::F32}))}});
  EXPECT_EQ(to_string(BindingManifest::of(CompilePipeline().compile_graph(g).lir)),
            "input \"x\" : f32[batch, 4], batch*16 bytes at 0\n"
            "param \"w\" : f32[4], 16 bytes at 0\n"
            "output \"y\" : f32[batch, 4], batch*16 bytes at 0\n");
}

}  // namespace
}  // namespace tenon
