// If, Loop and Scan with bodies written in memory: what is captured, what is carried, what is known
// when the model is imported.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/import/model_helpers.h"

namespace tenon::onnx {
namespace {

using graph::interpret;
using graph::Op;
using make_encoder::GraphBytes;

graph::Tensor boolean(bool value) {
  return tensor(DType::Bool, {}, std::vector<uint8_t>{static_cast<uint8_t>(value)});
}

graph::Tensor number(int64_t value) { return tensor(DType::I64, {}, std::vector<int64_t>{value}); }

bool has_op(const graph::Graph& g, Op op) {
  return std::ranges::any_of(g.topological(),
                             [&](const graph::Node* node) { return node->op() == op; });
}

// A branch without inputs: `op` on names of the graph around it.
GraphBytes branch(const std::string& op, const std::vector<std::string>& inputs) {
  OnnxWriter w({});
  w.untyped_output(w.node(op, inputs));
  return {w.graph()};
}

OnnxWriter if_model(const GraphBytes& then, const GraphBytes& other) {
  OnnxWriter w({{"", 16}});
  w.input("c", kBool, {});
  w.input("x", kFloat, {"n"});
  w.input("y", kFloat, {"n"});
  w.untyped_output(w.node("If", {"c"}, {{"then_branch", then}, {"else_branch", other}}));
  return w;
}

TEST(If, CapturesValuesOfTheGraphAroundIt) {
  const graph::Graph g = import_writer(if_model(branch("Add", {"x", "y"}), branch("Neg", {"x"})));
  graph::verify(g);
  EXPECT_EQ(graph::print(graph::parse(graph::print(g))), graph::print(g));
  const graph::Tensor x = tensor(DType::F32, {2}, std::vector<float>{1, 2});
  const graph::Tensor y = tensor(DType::F32, {2}, std::vector<float>{10, 20});
  EXPECT_EQ(values<float>(interpret(g, {{"c", boolean(true)}, {"x", x}, {"y", y}})[0]),
            (std::vector<float>{11, 22}));
  EXPECT_EQ(values<float>(interpret(g, {{"c", boolean(false)}, {"x", x}, {"y", y}})[0]),
            (std::vector<float>{-1, -2}));
}

TEST(If, OfBranchesWithOtherExtentsHasOneThatTheRunDefines) {
  OnnxWriter other({});
  other.untyped_output(other.node("Concat", {"x", "y"}, {{"axis", int64_t{0}}}));
  const graph::Graph g =
      import_writer(if_model(branch("Add", {"x", "y"}), GraphBytes{other.graph()}));
  const graph::Tensor x = tensor(DType::F32, {2}, std::vector<float>{1, 2});
  EXPECT_EQ(interpret(g, {{"c", boolean(false)}, {"x", x}, {"y", x}})[0].shape[0], 4);
  EXPECT_EQ(interpret(g, {{"c", boolean(true)}, {"x", x}, {"y", x}})[0].shape[0], 2);
}

TEST(If, WhoseConditionIsKnownLeavesNoBranch) {
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, {2, 3});
  const std::string rank = w.node("Shape", {w.node("Shape", {"x"})});
  const std::string two = w.int64s("two", {2});
  const std::string is_two = w.node("Equal", {rank, two});
  const std::string chosen =
      w.node("If", {is_two},
             {{"then_branch", branch("Neg", {"x"})}, {"else_branch", branch("Relu", {"missing"})}});
  w.untyped_output(chosen);
  const graph::Graph g = import_writer(w);
  EXPECT_FALSE(has_op(g, Op::If));
  EXPECT_TRUE(has_op(g, Op::Neg));
}

// What exporters write for a squeeze of an axis that may be 1 long.
OnnxWriter squeeze_model(const std::vector<make_encoder::Dimension>& dims) {
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, dims);
  const std::string axis = w.int64s("axis", {1}), one = w.int64s("one", {1});
  const std::string extent =
      w.node("Gather", {w.node("Shape", {"x"}), axis}, {{"axis", int64_t{0}}});
  w.untyped_output(w.node("If", {w.node("Equal", {extent, one})},
                          {{"then_branch", branch("Squeeze", {"x", "axis"})},
                           {"else_branch", branch("Identity", {"x"})}}));
  return w;
}

TEST(If, OfBranchesWithOtherRanksIsDecidedByTheShape) {
  EXPECT_EQ(import_writer(squeeze_model({"n", 1, 3})).outputs()[0].value.type().to_string(),
            "f32[n, 3]");
  EXPECT_EQ(import_writer(squeeze_model({"n", 2, 3})).outputs()[0].value.type().to_string(),
            "f32[n, 2, 3]");
  EXPECT_EQ(import_writer(squeeze_model({"n", "m", 3}), {.dim_bounds = {{"m", {2, 9}}}})
                .outputs()[0]
                .value.type()
                .to_string(),
            "f32[n, m, 3]");
  EXPECT_EQ(import_writer(squeeze_model({"n", "m", 3}), {.dim_bounds = {{"m", {1, 1}}}})
                .outputs()[0]
                .value.shape()
                .rank(),
            2);
}

TEST(If, OfBranchesWithOtherRanksSaysWhatWouldDecideIt) {
  try {
    import_writer(squeeze_model({"n", "m", 3}));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
    EXPECT_NE(std::string(error.what()).find("static shapes"), std::string::npos) << error.what();
  }
}

TEST(If, InsideAnotherCapturesThroughIt) {
  OnnxWriter middle({});
  middle.untyped_output(middle.node(
      "If", {"c"},
      {{"then_branch", branch("Add", {"x", "y"})}, {"else_branch", branch("Neg", {"y"})}}));
  const graph::Graph g = import_writer(if_model(GraphBytes{middle.graph()}, branch("Neg", {"x"})));
  const graph::Tensor x = tensor(DType::F32, {1}, std::vector<float>{1});
  const graph::Tensor y = tensor(DType::F32, {1}, std::vector<float>{10});
  EXPECT_EQ(values<float>(interpret(g, {{"c", boolean(true)}, {"x", x}, {"y", y}})[0]),
            (std::vector<float>{11}));
}

// sum += i * step; the sum before each iteration is scanned.
GraphBytes summing_body() {
  OnnxWriter body({});
  body.input("i", kInt64, {});
  body.input("go", kBool, {});
  body.input("sum", kInt64, {});
  const std::string next = body.node("Add", {"sum", body.node("Mul", {"i", "step"})});
  body.untyped_output("go");
  body.untyped_output(next);
  body.untyped_output("sum");
  return {body.graph()};
}

OnnxWriter loop_model(const GraphBytes& body, const std::string& trips) {
  OnnxWriter w({{"", 16}});
  w.input("m", kInt64, {});
  w.input("step", kInt64, {});
  w.int64s("start", {}, {100});
  w.int64s("four", {}, {4});
  for (const std::string& output : w.nodes("Loop", {trips, "", "start"}, 2, {{"body", body}})) {
    w.untyped_output(output);
  }
  return w;
}

TEST(Loop, CarriesAValueAndScansAnother) {
  const graph::Graph g = import_writer(loop_model(summing_body(), "m"));
  const auto outputs = interpret(g, {{"m", number(3)}, {"step", number(5)}});
  EXPECT_EQ(values<int64_t>(outputs[0]), (std::vector<int64_t>{115}));
  EXPECT_EQ(values<int64_t>(outputs[1]), (std::vector<int64_t>{100, 100, 105}));
}

TEST(Loop, OfAKnownNumberOfTripsHasScansOfThatExtent) {
  const graph::Graph g = import_writer(loop_model(summing_body(), "four"));
  EXPECT_EQ(g.outputs()[1].value.type().to_string(), "i64[4]");
}

TEST(Loop, EndsWhenItsBodySaysSo) {
  OnnxWriter body({});
  body.input("i", kInt64, {});
  body.input("go", kBool, {});
  body.input("x", kInt64, {});
  const std::string doubled = body.node("Add", {"x", "x"});
  body.untyped_output(body.node("Less", {doubled, "step"}));
  body.untyped_output(doubled);
  body.untyped_output("i");
  const graph::Graph g = import_writer(loop_model(GraphBytes{body.graph()}, ""));
  const auto outputs = interpret(g, {{"m", number(0)}, {"step", number(1000)}});
  EXPECT_EQ(values<int64_t>(outputs[0]), (std::vector<int64_t>{1600}));
  EXPECT_EQ(values<int64_t>(outputs[1]), (std::vector<int64_t>{0, 1, 2, 3}));
}

TEST(Loop, FindsWhichExtentsOfACarriedValueGrow) {
  OnnxWriter body({});
  body.input("i", kInt64, {});
  body.input("go", kBool, {});
  body.input("x", kFloat, {"rows", 2});
  body.untyped_output("go");
  body.untyped_output(body.node("Concat", {"x", "x"}, {{"axis", int64_t{0}}}));
  OnnxWriter w({{"", 16}});
  w.input("m", kInt64, {1});
  w.input("x0", kFloat, {1, 2});
  w.untyped_output(w.node("Loop", {"m", "", "x0"}, {{"body", GraphBytes{body.graph()}}}));
  const graph::Graph g = import_writer(w);
  EXPECT_TRUE(g.outputs()[0].value.shape()[1].is_const(2));
  const auto outputs = interpret(g, {{"m", tensor(DType::I64, {1}, std::vector<int64_t>{3})},
                                     {"x0", tensor(DType::F32, {1, 2}, std::vector<float>{1, 2})}});
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{8, 2}));
}

// Running sums along `axis`, which the output has too.
OnnxWriter scan_model(int64_t input_axis, int64_t backward, int64_t output_axis) {
  OnnxWriter body({});
  body.input("sum", kFloat, {2});
  body.input("x", kFloat, {2});
  const std::string next = body.node("Add", {"sum", "x"});
  body.untyped_output(next);
  body.untyped_output(body.node("Identity", {next}));
  OnnxWriter w({{"", 16}});
  w.input("zero", kFloat, {2});
  if (input_axis == 0) {
    w.input("xs", kFloat, {"n", 2});
  } else {
    w.input("xs", kFloat, {2, "n"});
  }
  const std::vector<int64_t> way{backward};
  for (const std::string& output : w.nodes("Scan", {"zero", "xs"}, 2,
                                           {{"body", GraphBytes{body.graph()}},
                                            {"num_scan_inputs", int64_t{1}},
                                            {"scan_input_axes", std::vector{input_axis}},
                                            {"scan_input_directions", way},
                                            {"scan_output_axes", std::vector{output_axis}},
                                            {"scan_output_directions", way}})) {
    w.untyped_output(output);
  }
  return w;
}

TEST(Scan, GoesAlongAnyAxisInBothDirections) {
  const graph::Tensor zero = tensor(DType::F32, {2}, std::vector<float>{0, 0});
  const graph::Tensor rows = tensor(DType::F32, {3, 2}, std::vector<float>{1, 10, 2, 20, 3, 30});
  const auto down = interpret(import_writer(scan_model(0, 0, 0)), {{"zero", zero}, {"xs", rows}});
  EXPECT_EQ(values<float>(down[0]), (std::vector<float>{6, 60}));
  EXPECT_EQ(values<float>(down[1]), (std::vector<float>{1, 10, 3, 30, 6, 60}));
  const auto turned =
      interpret(import_writer(scan_model(0, 1, -1)), {{"zero", zero}, {"xs", rows}});
  EXPECT_EQ(turned[1].shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(values<float>(turned[1]), (std::vector<float>{6, 5, 3, 60, 50, 30}));
  const graph::Tensor columns = tensor(DType::F32, {2, 2}, std::vector<float>{1, 2, 10, 20});
  const auto across =
      interpret(import_writer(scan_model(1, 0, 1)), {{"zero", zero}, {"xs", columns}});
  EXPECT_EQ(values<float>(across[1]), (std::vector<float>{1, 3, 10, 30}));
}

TEST(Scan, KeepsTheSymbolOfItsLength) {
  const graph::Graph g = import_writer(scan_model(0, 0, 0));
  EXPECT_EQ(g.outputs()[1].value.type().to_string(), "f32[n, 2]");
}

// y = x * factor, and its double.
OnnxWriter function_model(const std::vector<make_encoder::Attribute>& given) {
  OnnxWriter body({{"", 16}, {"local", 1}});
  const std::string axis =
      body.node("Constant", {}, {{"value_int", make_encoder::AttributeReference{"factor"}}});
  const std::string factor = body.node("Cast", {axis}, {{"to", int64_t{kFloat}}});
  body.raw_node("", "Mul", {"x", factor}, {"y"});
  body.raw_node("", "Double", {"y"}, {"z"}, {}, "local");
  OnnxWriter twice({{"", 16}});
  twice.raw_node("", "Add", {"v", "v"}, {"w"});
  OnnxWriter w({{"", 16}, {"local", 1}});
  w.input("a", kFloat, {2});
  for (const std::string& output : w.nodes("Scale", {"a"}, 2, given, "local")) {
    w.untyped_output(output);
  }
  w.function({"local", "Scale", {"x", "unused"}, {"y", "z"}, {}, {{"factor", int64_t{3}}}}, body);
  w.function({"local", "Double", {"v"}, {"w"}, {}, {}}, twice);
  return w;
}

TEST(Function, IsImportedInPlaceOfItsCallWithTheCallsAttributes) {
  const graph::Tensor a = tensor(DType::F32, {2}, std::vector<float>{1, 2});
  const auto plain = interpret(import_writer(function_model({})), {{"a", a}});
  EXPECT_EQ(values<float>(plain[0]), (std::vector<float>{3, 6}));
  EXPECT_EQ(values<float>(plain[1]), (std::vector<float>{6, 12}));
  const auto given = interpret(import_writer(function_model({{"factor", int64_t{5}}})), {{"a", a}});
  EXPECT_EQ(values<float>(given[0]), (std::vector<float>{5, 10}));
}

TEST(Output, MayBeListedTwice) {
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, {2});
  const std::string y = w.node("Neg", {"x"});
  w.untyped_output(y);
  w.untyped_output(y);
  const graph::Graph g = import_writer(w);
  ASSERT_EQ(g.outputs().size(), 2);
  EXPECT_EQ(g.outputs()[0].name, y);
  EXPECT_EQ(g.outputs()[1].name, y + ".2");
  const auto results = interpret(g, {{"x", tensor(DType::F32, {2}, std::vector<float>{1, 2})}});
  EXPECT_EQ(values<float>(results[1]), (std::vector<float>{-1, -2}));
}

TEST(Output, MayBeAnInputOrAnInitializer) {
  OnnxWriter w({{"", 16}});
  w.input("x", kFloat, {2});
  w.input("unused", kFloat, {"k"});
  w.scalar("c", 7);
  w.untyped_output("x");
  w.untyped_output("c");
  const auto outputs =
      interpret(import_writer(w), {{"x", tensor(DType::F32, {2}, std::vector<float>{1, 2})},
                                   {"unused", tensor(DType::F32, {1}, std::vector<float>{0})}});
  EXPECT_EQ(values<float>(outputs[0]), (std::vector<float>{1, 2}));
  EXPECT_EQ(values<float>(outputs[1]), (std::vector<float>{7}));
}

}  // namespace
}  // namespace tenon::onnx
