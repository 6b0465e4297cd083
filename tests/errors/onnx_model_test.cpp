// Models that are well-formed protobuf but bad ONNX: each class of mistake has an error that names
// the node or tensor.
#include <gtest/gtest.h>

#include "tests/errors/onnx_models.h"

namespace tenon::onnx {
namespace {

OnnxWriter writer(int64_t opset = 14) {
  OnnxWriter w({{"", opset}, {"com.microsoft", 1}});
  w.input("x", kFloat, {"batch", 4});
  return w;
}

TEST(OnnxModel, WithUnknownOpsListsAllOfThemAtOnceWithNodeNames) {
  OnnxWriter w = writer();
  w.raw_node("first", "Whirl", {"x"}, {"a"});
  w.raw_node("second", "Relu", {"x"}, {"b"});
  w.raw_node("third", "Whirl", {"b"}, {"c"});
  w.raw_node("", "Rotate", {"b"}, {"y"}, {}, "org.example");
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(
      w, ErrorKind::Unsupported,
      {"test.onnx", "Whirl x2", "'first'", "'third'", "org.example.Rotate x1", "'Rotate#3'"});
}

TEST(OnnxModel, WithContradictingShapesNamesTheNodeAndShowsTheShapes) {
  OnnxWriter w = writer();
  const std::vector<float> values(10, 1.0f);
  w.floats("w", {5, 2}, values);
  w.raw_node("product", "MatMul", {"x", "w"}, {"y"});
  w.output("y", kFloat, {"batch", 2});
  expect_import_error(w, ErrorKind::User,
                      {"test.onnx", "'product' (MatMul)", "f32[batch, 4]", "f32[5, 2]"});
}

TEST(OnnxModel, WhoseOutputIsDeclaredWithAnotherShapeIsRejected) {
  OnnxWriter w = writer();
  w.raw_node("n", "Relu", {"x"}, {"y"});
  w.output("y", kFloat, {"batch", 5});
  expect_import_error(w, ErrorKind::User, {"'y'", "extent 5", "f32[batch, 4]"});
  OnnxWriter rank = writer();
  rank.raw_node("n", "Relu", {"x"}, {"y"});
  rank.output("y", kFloat, {"batch"});
  expect_import_error(rank, ErrorKind::User, {"'y'", "rank 1"});
  OnnxWriter dtype = writer();
  dtype.raw_node("n", "Relu", {"x"}, {"y"});
  dtype.output("y", kInt64, {"batch", 4});
  expect_import_error(dtype, ErrorKind::User, {"'y'", "i64"});
}

TEST(OnnxModel, WithTheSameOutputTwiceNamesBothNodes) {
  OnnxWriter w = writer();
  w.raw_node("one", "Relu", {"x"}, {"y"});
  w.raw_node("two", "Tanh", {"x"}, {"y"});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::User, {"'one'", "'two'", "'y'"});
}

TEST(OnnxModel, WithAnInputTwiceIsRejected) {
  OnnxWriter w = writer();
  w.input("x", kFloat, {"batch", 4});
  w.raw_node("n", "Relu", {"x"}, {"y"});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::User, {"'x'", "twice"});
}

TEST(OnnxModel, WithUnsortedNodesNamesTheNodeThatComesTooLate) {
  OnnxWriter w = writer();
  w.raw_node("user", "Relu", {"t"}, {"y"});
  w.raw_node("maker", "Tanh", {"x"}, {"t"});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::User, {"'user'", "'t'", "'maker'", "not sorted"});
}

TEST(OnnxModel, WithACycleIsRejected) {
  OnnxWriter w = writer();
  w.raw_node("self", "Add", {"x", "y"}, {"y"});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::User, {"'self'", "its own output 'y'"});
}

TEST(OnnxModel, ThatUsesANameNobodyMakesSaysSo) {
  OnnxWriter w = writer();
  w.raw_node("n", "Add", {"x", "ghost"}, {"y"});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::User, {"'n' (Add)", "'ghost'"});
}

TEST(OnnxModel, WithAnUnknownAttributeNamesIt) {
  OnnxWriter w = writer();
  w.raw_node("n", "Relu", {"x"}, {"y"}, {{"slope", 0.1f}});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::Unsupported, {"'n' (Relu)", "'slope'"});
}

TEST(OnnxModel, WithAnAttributeOfTheWrongKindNamesIt) {
  OnnxWriter w = writer();
  w.raw_node("n", "Softmax", {"x"}, {"y"}, {{"axis", 1.0f}});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::User, {"'n' (Softmax)", "'axis'", "integer"});
}

TEST(OnnxModel, WithTheWrongNumberOfInputsIsRejected) {
  OnnxWriter w = writer();
  w.raw_node("n", "Add", {"x"}, {"y"});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::User, {"'n' (Add)", "1 inputs"});
}

TEST(OnnxModel, WithoutOutputsIsRejected) {
  OnnxWriter w = writer();
  w.raw_node("n", "Relu", {"x"}, {"y"});
  expect_import_error(w, ErrorKind::User, {"no outputs"});
}

TEST(OnnxModel, OfANewerOpsetThanKnownIsRejected) {
  OnnxWriter w = writer(999);
  w.raw_node("n", "Relu", {"x"}, {"y"});
  w.output("y", kFloat, {"batch", 4});
  expect_import_error(w, ErrorKind::Unsupported, {"opset 999"});
}

TEST(OnnxModel, WhoseRanksComeFromDataSaysSo) {
  OnnxWriter w = writer();
  w.input("shape", kInt64, {"n"});
  w.raw_node("n", "Reshape", {"x", "shape"}, {"y"});
  w.output("y", kFloat, {"a", "b"});
  expect_import_error(w, ErrorKind::Unsupported,
                      {"'n' (Reshape)", "rank is only known at run time"});
}

TEST(OnnxModel, WhoseExtentsDoubleWithEveryOpIsRejectedBeforeItTakesForever) {
  OnnxWriter w = writer();
  w.int64s("one", {1});
  w.int64s("last", {-1});
  w.int64s("axis", {0});
  std::string x = "x";
  for (int i = 0; i < 60; ++i) x = w.node("Slice", {x, "one", "last", "axis"});
  w.untyped_output(x);
  expect_import_error(w, ErrorKind::Unsupported, {"(Slice)", "too complicated"});
}

TEST(OnnxOptions, ThatBoundAnUnknownSymbolListTheKnownOnes) {
  OnnxWriter w = writer();
  w.raw_node("n", "Relu", {"x"}, {"y"});
  w.output("y", kFloat, {"batch", 4});
  expect_error([&] { import_text(w.finish(), {.dim_bounds = {{"sequence", {1, 8}}}}); },
               ErrorKind::User, {"'sequence'", "batch"});
}

}  // namespace
}  // namespace tenon::onnx
