// Cases as text, their inputs, comparison and shrinking: with devices that err on purpose.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "tests/differential/random_graph.h"
#include "tests/differential/shrink.h"
#include "tools/replay/compare.h"

namespace tenon::differential {
namespace {

using namespace graph;
using replay::Case;
using replay::Verdict;

Case chain() {
  Graph g;
  const Dim b = Symbol("b", {1, 64});
  const Value x = g.input("x", {{b, 4}, DType::F32}), y = g.input("y", {{4}, DType::F32});
  Value z = g.add(g.unary(Op::Neg, x), y);
  z = g.unary(Op::Tanh, g.mul(z, x));
  z = g.reduce(Op::ReduceSum, g.unary(Op::Abs, z), {1});
  g.set_outputs({{"z", z}, {"w", g.unary(Op::Relu, x)}});
  return {std::move(g), {{"b", 9}}, 5};
}

bool has_op(const Graph& graph, Op op) {
  return std::ranges::any_of(graph.topological(),
                             [&](const Node* node) { return node->op() == op; });
}

// The interpreter, with one op replaced by another.
replay::Device interpreter_with(Op from, Op to) {
  return [=](const Graph& graph) -> replay::Run {
    const Graph other =
        rebuild(graph, [&](Graph& g, const Node& node, std::span<const Value> operands) {
          if (node.op() != from) return std::vector<Value>();
          return std::vector<Value>{g.unary(to, operands[0])};
        });
    return [other](const replay::Tensors& inputs) { return interpret(other, inputs); };
  };
}

TEST(Replay, CasesSurviveText) {
  const Case before = chain();
  const Case after = replay::parse_case(to_text(before));
  EXPECT_EQ(digest(after.graph), digest(before.graph));
  EXPECT_EQ(after.extents, before.extents);
  EXPECT_EQ(after.seed, before.seed);
  EXPECT_EQ(replay::inputs_of(after).at("x").bytes, replay::inputs_of(before).at("x").bytes);
  for (const char* text : {"", "graph\n", "case seed=x\ngraph\n", "case seed=1 b\ngraph\n"}) {
    EXPECT_THROW(replay::parse_case(text), Error) << text;
  }
}

TEST(Replay, EveryRandomGraphSurvivesText) {
  for (uint64_t seed = 1; seed < 30; ++seed) {
    GraphWriter writer(seed);
    const Case given = writer.write(20);
    EXPECT_EQ(digest(replay::parse_case(to_text(given)).graph), digest(given.graph));
  }
}

TEST(Replay, SeesOtherNumbersAndOtherErrors) {
  const Case given = chain();
  EXPECT_EQ(compare(given, interpreter_with(Op::Neg, Op::Neg)).verdict, Verdict::Same);
  EXPECT_EQ(compare(given, interpreter_with(Op::Neg, Op::Abs)).verdict, Verdict::Differs);
  EXPECT_EQ(compare(given, interpreter_with(Op::Tanh, Op::Erf)).verdict, Verdict::Differs);
  const replay::Device refuses = [](const Graph&) -> replay::Run {
    throw unsupported_error("nothing is supported");
  };
  EXPECT_EQ(compare(given, refuses).verdict, Verdict::Refused);
  const replay::Device fails = [](const Graph&) -> replay::Run {
    return [](const replay::Tensors&) -> std::vector<Tensor> { throw user_error("no"); };
  };
  EXPECT_EQ(compare(given, fails).verdict, Verdict::Differs);
}

TEST(Replay, TheCompilerAgreesOnTheChain) {
  EXPECT_EQ(compare(chain(), replay::cpu()).verdict, Verdict::Same);
}

TEST(Shrink, LeavesWhatFails) {
  const auto fails = [](const Case& given) {
    return compare(given, interpreter_with(Op::Tanh, Op::Erf)).verdict == Verdict::Differs;
  };
  const Case small = shrink(chain(), fails);
  EXPECT_TRUE(fails(small));
  EXPECT_TRUE(has_op(small.graph, Op::Tanh));
  EXPECT_EQ(small.graph.topological().size(), 2u) << to_text(small);  // an input and the op
  EXPECT_EQ(small.graph.inputs().size(), 1u);
  EXPECT_EQ(small.extents.at("b"), 1);
}

}  // namespace
}  // namespace tenon::differential
