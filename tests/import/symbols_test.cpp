// The bounds of the symbols that a model's named extents become.
#include <gtest/gtest.h>

#include "base/error.h"
#include "tests/import/model_helpers.h"

namespace tenon::onnx {
namespace {

OnnxWriter append_model(const std::string& length) {
  OnnxWriter w({{"", 16}});
  w.input("cache", kFloat, {length, 2});
  w.input("x", kFloat, {1, 2});
  w.untyped_output(w.node("Concat", {"cache", "x"}, {{"axis", int64_t{0}}}));
  return w;
}

std::vector<float> append_to_nothing(const graph::Graph& g) {
  return values<float>(
      interpret(g, {{"cache", tensor(DType::F32, {0, 2}, std::vector<float>{})},
                    {"x", tensor(DType::F32, {1, 2}, std::vector<float>{3, 4})}})[0]);
}

TEST(Symbols, OfTheLengthOfACacheMayBeZero) {
  const graph::Graph g = import_writer(append_model("past_sequence_length"));
  EXPECT_EQ(append_to_nothing(g), (std::vector<float>{3, 4}));
  EXPECT_THROW(append_to_nothing(import_writer(append_model("seq"))), Error);
}

TEST(Symbols, MayBeZeroWhereTheirBoundsSaySo) {
  const graph::Graph g = import_writer(append_model("seq"), {.dim_bounds = {{"seq", {0, 8}}}});
  EXPECT_EQ(append_to_nothing(g), (std::vector<float>{3, 4}));
  EXPECT_THROW(import_writer(append_model("seq"), {.dim_bounds = {{"seq", {-1, 8}}}}), Error);
  EXPECT_THROW(import_writer(append_model("seq"), {.dim_bounds = {{"seq", {4, 3}}}}), Error);
}

}  // namespace
}  // namespace tenon::onnx
