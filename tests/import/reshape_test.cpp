// Reshape to extents that are computed from other inputs' shapes, and may be 0 when the model runs.
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/import/model_helpers.h"

namespace tenon::onnx {
namespace {

using Ints = std::vector<int64_t>;

// Reshapes x [dims] to [extent of y - 1, rest...].
graph::Graph reshape_model(const std::vector<make_encoder::Dimension>& dims, const Ints& rest,
                           bool allow_zero = false) {
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, dims);
  w.input("y", kFloat, {"n"});
  const std::string entry = w.node("Sub", {w.node("Shape", {"y"}), w.int64s("one", {1})});
  const std::string shape =
      w.node("Concat", {entry, w.int64s("rest", rest)}, {{"axis", int64_t{0}}});
  w.untyped_output(w.node("Reshape", {"x", shape}, {{"allowzero", int64_t{allow_zero ? 1 : 0}}}));
  return import_writer(w);
}

Ints shape_at(const graph::Graph& g, const Ints& x, int64_t entry) {
  int64_t count = 1;
  for (const int64_t extent : x) count *= extent;
  const auto zeros = [](Ints shape, int64_t n) {
    return tensor(DType::F32, std::move(shape), std::vector<float>(static_cast<size_t>(n)));
  };
  return interpret(g, {{"x", zeros(x, count)}, {"y", zeros({entry + 1}, entry + 1)}})[0].shape;
}

TEST(Reshape, KeepsTheExtentWhereAComputedEntryIsZero) {
  const graph::Graph g = reshape_model({6, 4}, {-1});
  EXPECT_EQ(shape_at(g, {6, 4}, 0), (Ints{6, 4}));
  EXPECT_EQ(shape_at(g, {6, 4}, 1), (Ints{1, 24}));
  EXPECT_EQ(shape_at(g, {6, 4}, 12), (Ints{12, 2}));
  EXPECT_EQ(shape_at(reshape_model({6, 4}, {4}), {6, 4}, 0), (Ints{6, 4}));
  EXPECT_THROW(shape_at(g, {6, 4}, 5), Error);
}

TEST(Reshape, KeepsASymbolicExtentWhereAComputedEntryIsZero) {
  const graph::Graph g = reshape_model({"m", 4}, {-1, 2});
  EXPECT_EQ(shape_at(g, {3, 4}, 0), (Ints{3, 2, 2}));
  EXPECT_EQ(shape_at(g, {3, 4}, 6), (Ints{6, 1, 2}));
  EXPECT_EQ(shape_at(g, {5, 4}, 0), (Ints{5, 2, 2}));
}

TEST(Reshape, OfNothingKeepsItsOtherExtents) {
  const graph::Graph g = reshape_model({3, 0}, {0});
  EXPECT_EQ(shape_at(g, {3, 0}, 0), (Ints{3, 0}));
  EXPECT_EQ(shape_at(g, {3, 0}, 5), (Ints{5, 0}));
}

TEST(Reshape, MeansZeroWhereZeroIsAllowed) {
  const graph::Graph g = reshape_model({3, 0}, {7}, true);
  EXPECT_EQ(shape_at(g, {3, 0}, 0), (Ints{0, 7}));
  EXPECT_THROW(shape_at(reshape_model({6, 4}, {4}, true), {6, 4}, 0), Error);
}

TEST(Reshape, WithAnUnknownRankSaysWhatToDo) {
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, {6, 4});
  w.input("shape", kInt64, {"rank"});
  w.untyped_output(w.node("Reshape", {"x", "shape"}));
  try {
    import_writer(w);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("static shapes"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tenon::onnx
