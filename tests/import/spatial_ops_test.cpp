// Image and sequence ops from ONNX: what becomes of symbolic extents, and of operands that are
// known or data. Expected values are worked out by hand from the ONNX text.
#include <gtest/gtest.h>

#include "tests/import/model_helpers.h"

namespace tenon::onnx {
namespace {

using make_encoder::Attribute;
using Ints = std::vector<int64_t>;

std::vector<Dim> result_dims(OnnxWriter& w, const std::string& op,
                             const std::vector<std::string>& inputs,
                             const std::vector<Attribute>& attributes) {
  w.raw_node("n", op, inputs, {"y"}, attributes, "");
  w.untyped_output("y");
  return import_writer(w).outputs()[0].value.shape().dims();
}

TEST(AveragePool, RoundsSymbolicExtentsUpInCeilMode) {
  OnnxWriter w({{"", 22}});
  w.input("x", kFloat, {1, 1, "h"});
  const Dim h = Symbol("h");
  const Dim extent =
      result_dims(w, "AveragePool", {"x"},
                  {{"kernel_shape", Ints{3}}, {"strides", Ints{2}}, {"ceil_mode", int64_t{1}}})[2];
  EXPECT_EQ(extent, min(ceildiv(h - 3, 2), floordiv(h - 1, 2)) + 1);
}

TEST(MaxPool, KeepsASymbolicExtentWithSamePadding) {
  OnnxWriter w({{"", 22}});
  w.input("x", kFloat, {1, 1, "h"});
  const Dim extent = result_dims(
      w, "MaxPool", {"x"}, {{"kernel_shape", Ints{3}}, {"auto_pad", std::string("SAME_UPPER")}})[2];
  EXPECT_EQ(extent, Dim(Symbol("h")));
}

TEST(Resize, MultipliesASymbolicExtentByAConstantScale) {
  OnnxWriter w({{"", 19}});
  w.input("x", kFloat, {1, 1, "h"});
  const float scales[] = {1, 1, 1.5};
  w.floats("scales", {3}, scales);
  const Dim extent = result_dims(w, "Resize", {"x", "", "scales"}, {})[2];
  EXPECT_EQ(prove_equal(extent, floordiv(Dim(Symbol("h")) * 3, 2)), Proof::Yes)
      << extent.to_string();
}

}  // namespace
}  // namespace tenon::onnx
