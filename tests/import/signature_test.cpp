// What a node may have at an opset: attributes, values of attributes and inputs of other opsets are
// errors that name the node. tests/python/check_opsets.py compares the whole table with ONNX's.
#include <gtest/gtest.h>

#include "tests/import/one_node.h"

namespace tenon::onnx {
namespace {

std::string error_of(const OnnxWriter& w) {
  try {
    import_writer(w);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

OnnxWriter model(int64_t opset, const std::string& op, const Names& inputs,
                 const Attributes& attributes, const std::string& domain = "") {
  OnnxWriter w({{"", opset}, {"com.microsoft", 1}});
  w.input("x", kFloat, {2, 3});
  w.int64s("axes", {0});
  w.untyped_output(w.node(op, inputs, attributes, domain));
  return w;
}

void expect_error(const OnnxWriter& w, const std::string& text) {
  EXPECT_THROW(import_writer(w), Error);
  EXPECT_NE(error_of(w).find(text), std::string::npos) << error_of(w);
}

TEST(Signature, AnAttributeExistsInItsOpsetsOnly) {
  const Attributes axes{{"axes", Ints{0}}};
  EXPECT_EQ(error_of(model(12, "ReduceSum", {"x"}, axes)), "no error");
  expect_error(model(13, "ReduceSum", {"x"}, axes),
               "node 'ReduceSum_1' (ReduceSum): attribute 'axes' is not known at opset 13, only "
               "until opset 12");
  EXPECT_EQ(error_of(model(17, "ReduceMax", {"x"}, axes)), "no error");
  expect_error(model(18, "ReduceMax", {"x"}, axes), "attribute 'axes' is not known at opset 18");
  expect_error(model(14, "Shape", {"x"}, {{"start", int64_t{1}}}),
               "attribute 'start' is not known at opset 14, only since opset 15");
  expect_error(model(13, "Relu", {"x"}, {{"alpha", 1.0F}, {"beta", 1.0F}}),
               "attribute 'alpha' is not known for this op; attribute 'beta' is not known");
  expect_error(model(13, "Gelu", {"x"}, {{"approximate", std::string("tanh")}}, "com.microsoft"),
               "(com.microsoft.Gelu): attribute 'approximate' is not known for this op");
}

TEST(Signature, AnInputExistsInItsOpsetsOnly) {
  EXPECT_EQ(error_of(model(13, "ReduceSum", {"x", "axes"}, {})), "no error");
  expect_error(model(12, "ReduceSum", {"x", "axes"}, {}),
               "input 1 is not known at opset 12, only since opset 13");
}

TEST(Signature, AValueOfAnAttributeExistsInItsOpsetsOnly) {
  const Attributes max{{"reduction", std::string("max")}}, add{{"reduction", std::string("add")}};
  const Names inputs{"x", "axes", "x"};
  expect_error(model(16, "ScatterElements", inputs, max),
               "attribute 'reduction' of 'max' is not known at opset 16, only since opset 18");
  EXPECT_EQ(error_of(model(16, "ScatterElements", inputs, add)).find("not known"),
            std::string::npos);
  EXPECT_EQ(error_of(model(18, "ScatterElements", inputs, max)).find("not known"),
            std::string::npos);
}

TEST(Signature, AnOpExistsInItsOpsetsOnly) {
  expect_error(model(10, "Upsample", {"x", "x"}, {}),
               "Upsample of opset 10 (known from opset 7 to 9)");
  expect_error(model(9, "ThresholdedRelu", {"x"}, {}),
               "ThresholdedRelu of opset 9 (known since opset 10)");
}

TEST(Signature, CountsInBranchesThatAreNeverTaken) {
  const auto branch = [](const Attributes& attributes) {
    OnnxWriter w({});
    w.untyped_output(w.node("Relu", {"x"}, attributes));
    return make_encoder::GraphBytes{w.graph()};
  };
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, {2, 3});
  const std::string two = w.int64s("two", {2}), rank = w.node("Shape", {w.node("Shape", {"x"})});
  w.untyped_output(w.node("If", {w.node("Equal", {rank, two})},
                          {{"then_branch", branch({})}, {"else_branch", branch({{"n", 1.0F}})}}));
  expect_error(w, "/Relu_1' (Relu): attribute 'n' is not known for this op");
}

}  // namespace
}  // namespace tenon::onnx
