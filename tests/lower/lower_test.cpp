// Each region of a graph, lowered, on the interpreter of the loop IR: the numbers that the
// interpreter of the tensor IR gives.
#include "lower/lower.h"

#include <gtest/gtest.h>

#include "tests/lower/graph_cases.h"
#include "tests/lower/index_cases.h"
#include "tests/lower/lowered_graph.h"
#include "tests/lower/odd_graphs.h"
#include "tests/lower/random_tensors.h"

namespace tenon::graph_test {
namespace {

class LowerTest : public ::testing::TestWithParam<GraphCase> {};

TEST_P(LowerTest, GivesTheNumbersOfTheTensorInterpreter) {
  const Graph g = prepared(GetParam());
  LoweredGraph lowered(g);
  for (const Extents& extents : some_extents()) {
    const Tensors inputs = random_tensors(g, extents);
    const auto expected = graph::interpret(g, inputs);
    const auto actual = lowered.run(inputs, extents);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (graph::has(g.outputs()[i].value.op(), graph::kLeaf)) continue;
      expect_close(actual[i], expected[i], 1e-6, g.outputs()[i].name + " at " + text_of(extents));
    }
  }
}

TEST_P(LowerTest, KernelsAreLegal) {
  const Graph g = prepared(GetParam());
  const LoweredGraph all(g);
  for (const lower::Lowered& lowered : all.kernels()) {
    EXPECT_NO_THROW(kernel::verify(lowered.kernel)) << kernel::print(lowered.kernel);
    EXPECT_EQ(lowered.arguments.size(), [&] {
      size_t arguments = 0;
      for (const auto& buffer : lowered.kernel.buffers) {
        arguments += buffer.storage == kernel::Storage::Global ? 1 : 0;
      }
      return arguments;
    }());
  }
}

INSTANTIATE_TEST_SUITE_P(Lookups, LowerTest, ::testing::ValuesIn(lookup_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Lines, LowerTest, ::testing::ValuesIn(line_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(OddGraphs, LowerTest, ::testing::ValuesIn(odd_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Graphs, LowerTest, ::testing::ValuesIn(all_graphs()),
                         [](const auto& info) { return info.param.name; });

int stored_loads(const kernel::Kernel& kernel) {
  int loads = 0;
  kernel::for_each(kernel.body, [&](const kernel::Stmt& stmt) {
    if (const auto* store = stmt.as<kernel::Store>()) {
      kernel::for_each(store->value,
                       [&](const kernel::Expr& e) { loads += e.op == kernel::Op::Load; });
    }
  });
  return loads;
}

TEST(Lower, AChainOfMovementIsOneLoadWithAnIndexMap) {
  Graph g;
  const Value x = in(g, "x", {kB, kS, 12});
  const Value heads = g.transpose(g.reshape(x, {kB, kS, 3, 4}), {0, 2, 1, 3});
  const Value part = g.slice(heads, {0, 1, 0, 3}, {kB, 2, kS, 2}, {1, 1, 1, -2});
  g.set_outputs({{"y", g.expand(g.reshape(part, {kB, 2, kS, 1, 2}), {kB, 2, kS, 5, 2})}});
  const LoweredGraph lowered(g);
  ASSERT_EQ(lowered.kernels().size(), 1u);
  const kernel::Kernel& k = lowered.kernels()[0].kernel;
  EXPECT_EQ(stored_loads(k), 1) << kernel::print(k);
  // head h of position p, element 3 - 2 e: x[i, p, (1 + h) * 4 + 3 - 2 e]; no division is left.
  EXPECT_EQ(kernel::print(k).find("floordiv"), std::string::npos) << kernel::print(k);
}

TEST(Lower, AReshapeThatOnlyMergesAxesNeedsNoDivision) {
  Graph g;
  const Value x = in(g, "x", {kB, kS, 12});
  g.set_outputs({{"y", g.relu(g.reshape(g.reshape(x, {kB * kS, 12}), {kB, kS, 3, 4}))}});
  const LoweredGraph lowered(g);
  const std::string text = kernel::print(lowered.kernels().at(0).kernel);
  EXPECT_EQ(text.find("floordiv"), std::string::npos) << text;
}

TEST(Lower, ElementwiseWorkIsDoneInsideItsOneConsumer) {
  Graph g;
  const Value x = in(g, "x", {kB, kS, 40}), w = par(g, "w", {40});
  g.set_outputs({{"y", g.layer_norm(g.gelu(g.add(x, w)), w, w, 1e-5)}});
  EXPECT_EQ(LoweredGraph(g).kernels().size(), 1u);
}

}  // namespace
}  // namespace tenon::graph_test
