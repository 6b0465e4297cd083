// Shapes, axes and counts as inputs of a model, and ops that are put together from ranges and
// comparisons. Expected values are worked out by hand from the ONNX text.
#include <gtest/gtest.h>

#include <limits>

#include "tests/import/model_helpers.h"

namespace tenon::onnx {
namespace {

using Ints = std::vector<int64_t>;
using Floats = std::vector<float>;

// One node on "x" f32 of these extents, and on int64 vectors that are inputs of the model.
struct ByData {
  OnnxWriter w{{{"", 18}}};
  std::vector<std::string> names{"x"};
  std::map<std::string, graph::Tensor> inputs;

  ByData(const Ints& shape, const Floats& x) {
    w.input("x", kFloat, {shape.begin(), shape.end()});
    inputs["x"] = tensor(DType::F32, shape, x);
  }
  ByData& with(const Ints& vector) {
    names.push_back("in" + std::to_string(names.size()));
    w.input(names.back(), kInt64, {static_cast<int64_t>(vector.size())});
    inputs[names.back()] = tensor(DType::I64, {static_cast<int64_t>(vector.size())}, vector);
    return *this;
  }
  graph::Tensor run(const std::string& op, std::vector<make_encoder::Attribute> attributes = {}) {
    w.raw_node("n", op, names, {"y"}, attributes, "");
    w.untyped_output("y");
    return interpret(import_writer(w), inputs)[0];
  }
};

TEST(Tile, RepeatsByData) {
  const auto y = ByData({1, 2}, {1, 2}).with({2, 2}).run("Tile");
  EXPECT_EQ(y.shape, (Ints{2, 4}));
  EXPECT_EQ(values<float>(y), (Floats{1, 2, 1, 2, 1, 2, 1, 2}));
  EXPECT_EQ(ByData({1, 2}, {1, 2}).with({3, 0}).run("Tile").shape, (Ints{3, 0}));
}

TEST(Expand, KeepsAnExtentWhereTheTargetIsOne) {
  EXPECT_EQ(ByData({2, 1}, {1, 2}).with({3, 1, 2}).run("Expand").shape, (Ints{3, 2, 2}));
  EXPECT_EQ(ByData({2, 1}, {1, 2}).with({0}).run("Expand").shape, (Ints{2, 0}));
}

TEST(CenterCropPad, CutsAndPadsByData) {
  const auto y = ByData({3, 2}, {1, 2, 3, 4, 5, 6}).with({2, 5}).run("CenterCropPad");
  EXPECT_EQ(values<float>(y), (Floats{0, 1, 2, 0, 0, 0, 3, 4, 0, 0}));
}

TEST(Pad, OfOldOpsetsHasItsNumbersAsAttributes) {
  OnnxWriter w({{"", 9}});
  w.input("x", kFloat, {1, 2});
  w.raw_node("n", "Pad", {"x"}, {"y"}, {{"pads", Ints{0, 1, 0, -1}}, {"value", 9.0F}}, "");
  w.untyped_output("y");
  EXPECT_EQ(run_unary(w, {1, 2}, {1, 2}), (Floats{9, 1}));
}

TEST(Trilu, KeepsTheLowerTriangleOfABatch) {
  ByData m({2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  EXPECT_EQ(values<float>(m.with({-1}).run("Trilu", {{"upper", int64_t{0}}})),
            (Floats{0, 0, 3, 0, 0, 0, 7, 0}));
}

TEST(Trilu, OfDiagonalsFarAwayKeepsNothingOrAll) {
  const Floats all{1, 2, 3, 4}, none{0, 0, 0, 0};
  for (const int64_t upper : {0, 1}) {
    ByData m({2, 2}, all);
    m.with({std::numeric_limits<int64_t>::max()});
    EXPECT_EQ(values<float>(m.run("Trilu", {{"upper", upper}})), upper == 1 ? none : all);
  }
}

TEST(Shape, OfWhatDataDecidesIsKnownWhenItRuns) {
  OnnxWriter w({{"", 18}});
  w.input("x", kFloat, {4});
  w.raw_node("a", "NonZero", {"x"}, {"found"});
  w.raw_node("b", "Shape", {"found"}, {"y"});
  w.untyped_output("y");
  const auto y = interpret(import_writer(w), {{"x", tensor(DType::F32, {4}, Floats{0, 1, 0, 2})}});
  EXPECT_EQ(values<int64_t>(y[0]), (Ints{1, 2}));
}

TEST(Slice, FromABoundOfUnknownSignIsCutWhenItRuns) {
  const auto y = ByData({4}, {0, 1, 2, 3}).with({-3}).with({9}).run("Slice");
  EXPECT_EQ(values<float>(y), (Floats{1, 2, 3}));
}

}  // namespace
}  // namespace tenon::onnx
