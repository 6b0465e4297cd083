// Branches and loops on the interpreter, and bodies as text.
#include <gtest/gtest.h>

#include "tests/graph/every_op_control.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

Tensor boolean(bool value) { return tensor(DType::Bool, {}, {value ? 1.0 : 0.0}); }

Graph branch_graph() {
  Graph g;
  const Value flag = g.input("flag", {{}, DType::Bool});
  const Value x = g.input("x", {{sym::batch()}, DType::F32});
  g.set_outputs({{"y", branch_of(g, flag, x)}});
  verify(g);
  return g;
}

Graph loop_graph() {
  Graph g;
  const Value trips = g.input("trips", {{}, DType::I64});
  const Value flag = g.input("flag", {{}, DType::Bool});
  const Value x = g.input("x", {{sym::batch()}, DType::F32});
  const std::vector<Value> results = doubling_loop(g, trips, flag, x);
  g.set_outputs({{"last", results[0]}, {"firsts", results[1]}});
  verify(g);
  return g;
}

TEST(If, RunsTheBranchThatTheConditionNames) {
  const Graph g = branch_graph();
  expect_near(interpret(g, {{"flag", boolean(true)}, {"x", f32({2}, {3, 4})}})[0], {6, 8});
  expect_near(interpret(g, {{"flag", boolean(false)}, {"x", f32({2}, {3, 4})}})[0], {2, 3});
}

TEST(If, RejectsBranchesThatDisagree) {
  Graph g;
  const Value flag = g.input("flag", {{}, DType::Bool});
  const auto body = [&](DType dtype) {
    Graph inner = g.nested();
    inner.set_outputs({{"out0", inner.scalar(dtype, 1)}});
    return Subgraph(std::move(inner));
  };
  EXPECT_NE(error_of([&] {
              g.apply(Op::If, {flag},
                      {{"then", body(DType::F32)},
                       {"else", body(DType::I64)},
                       {"extents", std::vector<Dim>{}}});
            }).find("User [if] output 0 is f32[] in one body, i64[] in the other"),
            std::string::npos);
}

TEST(Loop, CarriesValuesWhoseExtentsGrowAndStacksScans) {
  const Graph g = loop_graph();
  const auto outputs =
      interpret(g, {{"trips", i64({}, {3})}, {"flag", boolean(true)}, {"x", f32({1}, {7})}});
  EXPECT_EQ(outputs[0].shape, (std::vector<int64_t>{8}));
  expect_near(outputs[1], {7, 7, 7});
}

TEST(Loop, WithoutAnIterationGivesWhatItWasGiven) {
  const Graph g = loop_graph();
  for (const bool flag : {true, false}) {
    const auto outputs = interpret(g, {{"trips", i64({}, {flag ? -2.0 : 5.0})},
                                       {"flag", boolean(flag)},
                                       {"x", f32({2}, {7, 8})}});
    expect_near(outputs[0], {7, 8});
    EXPECT_EQ(outputs[1].shape, (std::vector<int64_t>{0}));
  }
}

TEST(Loop, OfScalarsHasNoExtents) {
  Graph g;
  Graph inner = g.nested();
  inner.input("in0", {{}, DType::I64});
  const Value go = inner.input("in1", {{}, DType::Bool});
  const Value x = inner.input("in2", {{}, DType::F32});
  inner.set_outputs({{"out0", go}, {"out1", inner.relu(x)}});
  const Value trips = g.input("trips", {{}, DType::I64});
  const Value flag = g.input("flag", {{}, DType::Bool});
  const Value y = g.apply(Op::Loop, {trips, flag, g.scalar(DType::F32, 1)},
                          {{"body", Subgraph(std::move(inner))},
                           {"carried", int64_t{1}},
                           {"extents", std::vector<Dim>{}}});
  g.set_outputs({{"y", y}});
  expect_near(interpret(g, {{"trips", i64({}, {100})}, {"flag", boolean(true)}})[0], {1});
}

TEST(Subgraph, IsPartOfTheIdentityOfItsNode) {
  Graph g;
  const Value flag = g.input("flag", {{}, DType::Bool});
  const Value x = g.input("x", {{3}, DType::F32}), y = g.input("y", {{4}, DType::F32});
  EXPECT_EQ(branch_of(g, flag, x), branch_of(g, flag, x));
  EXPECT_FALSE(branch_of(g, flag, x) == branch_of(g, flag, y));
}

TEST(Subgraph, StandsInTheTextOfItsNode) {
  EXPECT_EQ(print(branch_graph()), R"(graph
symbol batch 1..2147483647
input %flag : bool[]
input %x : f32[batch]
%0 = if(%flag, %x, %x) {else = graph {
  symbol batch 1..2147483647
  input %in0 : f32[batch]
  %0 = constant(1) : f32[]
  %1 = sub(%in0, %0) : f32[batch]
  output "out0" = %1
}, extents = [batch], then = graph {
  symbol batch 1..2147483647
  input %in0 : f32[batch]
  %0 = constant(2) : f32[]
  %1 = mul(%in0, %0) : f32[batch]
  output "out0" = %1
}} : f32[batch]
output "y" = %0
)");
}

TEST(Subgraph, OfTheTextFormMayNotNestForEver) {
  std::string text = "graph\n";
  for (int i = 0; i < 1000; ++i) text += "input %c : bool[]\n%0 = if(%c) {then = graph {\n";
  EXPECT_NE(error_of([&] { parse(text); }).find("too many graphs inside of each other"),
            std::string::npos);
}

TEST(Subgraph, HasNoParameters) {
  const std::string body = "graph { param %w : f32[]\n output \"a\" = %w }";
  const std::string text = "graph\ninput %c : bool[]\n%0 = if(%c) {then = " + body +
                           ", else = " + body + ", extents = []} : f32[]\noutput \"y\" = %0\n";
  EXPECT_NE(error_of([&] { parse(text); }).find("a body has no parameters of its own"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon::graph
