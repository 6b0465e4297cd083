// Models whose inner graphs and functions are bad: missing, too deep, recursive, or growing without
// end.
#include <gtest/gtest.h>

#include "tests/errors/onnx_models.h"

namespace tenon::onnx {
namespace {

using make_encoder::GraphBytes;

OnnxWriter if_model(const GraphBytes& then, const GraphBytes& other) {
  OnnxWriter w({{"", 16}, {"local", 1}});
  w.input("c", make_encoder::kBool, {});
  w.input("x", kFloat, {"n"});
  w.untyped_output(w.node("If", {"c"}, {{"then_branch", then}, {"else_branch", other}}));
  return w;
}

GraphBytes branch(const std::string& op, const std::vector<std::string>& inputs) {
  OnnxWriter w({});
  w.untyped_output(w.node(op, inputs));
  return {w.graph()};
}

TEST(OnnxBody, ThatUsesANameNobodyMakesNamesItsNode) {
  expect_import_error(if_model(branch("Neg", {"x"}), branch("Neg", {"absent"})), ErrorKind::User,
                      {"If_1/else/Neg_1", "'absent' is made by no node"});
}

TEST(OnnxBody, MayNotUseWhatTheGraphAroundItMakesLater) {
  OnnxWriter w({{"", 16}});
  w.input("c", make_encoder::kBool, {});
  w.input("x", kFloat, {"n"});
  w.raw_node("chosen", "If", {"c"}, {"y"},
             {{"then_branch", branch("Neg", {"later"})}, {"else_branch", branch("Neg", {"x"})}});
  w.raw_node("", "Relu", {"x"}, {"later"});
  w.untyped_output("y");
  expect_import_error(w, ErrorKind::User, {"chosen/then/Neg_1", "'later' is made by no node"});
}

TEST(OnnxBody, ThatIsMissingIsNamed) {
  OnnxWriter w({{"", 16}});
  w.input("c", make_encoder::kBool, {});
  w.untyped_output(w.node("If", {"c"}, {{"then_branch", branch("Neg", {"c"})}}));
  expect_import_error(w, ErrorKind::User, {"'else_branch' is missing"});
}

TEST(OnnxBody, WithUnknownOpsIsListedWithTheOthers) {
  expect_import_error(if_model(branch("Rotate", {"x"}), branch("Whirl", {"x"})),
                      ErrorKind::Unsupported, {"Rotate x1: 'If_1/Rotate_1'", "Whirl x1"});
}

TEST(OnnxBody, OfABranchMayNotHaveInputs) {
  OnnxWriter body({});
  body.input("x", kFloat, {"n"});
  body.untyped_output(body.node("Neg", {"x"}));
  expect_import_error(if_model(GraphBytes{body.graph()}, branch("Neg", {"x"})), ErrorKind::User,
                      {"has 1 inputs, where 0 are given"});
}

TEST(OnnxBody, WithBranchesOfDifferentTypesIsRejected) {
  OnnxWriter body({});
  body.untyped_output(body.node("Shape", {"x"}));
  expect_import_error(if_model(GraphBytes{body.graph()}, branch("Neg", {"x"})), ErrorKind::User,
                      {"i64[1] in one branch, f32[n] in the other"});
}

TEST(OnnxBody, NestedDeeperThanTheLimitIsRejectedWhileItIsRead) {
  GraphBytes body = branch("Neg", {"x"});
  for (int depth = 0; depth < 200; ++depth) {
    OnnxWriter w({});
    w.untyped_output(
        w.node("If", {"c"}, {{"then_branch", body}, {"else_branch", branch("Neg", {"x"})}}));
    body = {w.graph()};
  }
  expect_import_error(if_model(body, body), ErrorKind::User,
                      {"more than 32 graphs inside of each other"});
}

TEST(OnnxLoop, WhoseCarriedValueChangesItsTypeIsRejected) {
  OnnxWriter body({});
  body.input("i", kInt64, {});
  body.input("go", make_encoder::kBool, {});
  body.input("v", kFloat, {"k"});
  body.untyped_output("go");
  body.untyped_output(body.node("Shape", {"v"}));
  OnnxWriter w({{"", 16}});
  w.input("m", kInt64, {});
  w.input("x", kFloat, {"n"});
  w.untyped_output(w.node("Loop", {"m", "", "x"}, {{"body", GraphBytes{body.graph()}}}));
  expect_import_error(w, ErrorKind::User,
                      {"carried value 0 is f32[n] before an iteration, i64[1]"});
}

OnnxWriter calling(const std::string& name) {
  OnnxWriter w({{"", 16}, {"local", 1}});
  w.input("x", kFloat, {2});
  w.untyped_output(w.node(name, {"x"}, {}, "local"));
  return w;
}

void add_function(OnnxWriter& w, const std::string& name, const std::string& callee, int calls) {
  OnnxWriter body({{"", 16}, {"local", 1}});
  std::string value = "x";
  for (int i = 0; i < calls; ++i) value = body.node(callee, {value}, {}, "local");
  w.function({"local", name, {"x"}, {value}, {}, {}}, body);
}

TEST(OnnxFunction, ThatCallsItselfIsRejected) {
  OnnxWriter w = calling("F");
  add_function(w, "F", "G", 1);
  add_function(w, "G", "F", 1);
  expect_import_error(w, ErrorKind::User, {"function 'local.F' calls itself"});
}

TEST(OnnxFunction, ThatGrowsWithoutEndIsRejected) {
  OnnxWriter w = calling("F0");
  for (int i = 0; i < 30; ++i) {
    add_function(w, "F" + std::to_string(i), "F" + std::to_string(i + 1), 100);
  }
  OnnxWriter last({{"", 16}});
  last.raw_node("", "Relu", {"x"}, {"y"});
  w.function({"local", "F30", {"x"}, {"y"}, {}, {}}, last);
  expect_import_error(w, ErrorKind::User, {"expand to more than"});
}

TEST(OnnxFunction, NestedDeeperThanTheLimitIsRejected) {
  OnnxWriter w = calling("F0");
  for (int i = 0; i < 100; ++i) {
    add_function(w, "F" + std::to_string(i), "F" + std::to_string(i + 1), 1);
  }
  OnnxWriter last({{"", 16}});
  last.raw_node("", "Relu", {"x"}, {"y"});
  w.function({"local", "F100", {"x"}, {"y"}, {}, {}}, last);
  expect_import_error(w, ErrorKind::User, {"more than 32 graphs and functions"});
}

TEST(OnnxFunction, GivenTwiceOrWithUnknownAttributesIsRejected) {
  OnnxWriter twice = calling("F");
  add_function(twice, "F", "G", 0);
  add_function(twice, "F", "G", 0);
  expect_import_error(twice, ErrorKind::User, {"function 'local.F' is given twice"});
  OnnxWriter w({{"", 16}, {"local", 1}});
  w.input("x", kFloat, {2});
  w.untyped_output(w.node("F", {"x"}, {{"size", int64_t{3}}}, "local"));
  add_function(w, "F", "G", 0);
  expect_import_error(w, ErrorKind::User, {"function 'local.F' has no attribute 'size'"});
}

TEST(OnnxFunction, WithoutAnOpsetOfItsNodesDomainIsRejected) {
  OnnxWriter body({{"local", 1}});
  body.raw_node("", "Relu", {"x"}, {"y"});
  OnnxWriter w = calling("F");
  w.function({"local", "F", {"x"}, {"y"}, {}, {}}, body);
  expect_import_error(w, ErrorKind::User, {"the function imports no opset of domain 'ai.onnx'"});
}

TEST(OnnxAttribute, ThatRefersToAFunctionsOutsideOfOneIsRejected) {
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, {2});
  w.untyped_output(w.node("Softmax", {"x"}, {{"axis", make_encoder::AttributeReference{"axis"}}}));
  expect_import_error(w, ErrorKind::User, {"refers to one of a function"});
}

}  // namespace
}  // namespace tenon::onnx
