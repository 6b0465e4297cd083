// Each region of a graph, scheduled for a GPU, on the interpreter of the loop IR: the numbers that
// the interpreter of the tensor IR gives, and no race.
#include <gtest/gtest.h>

#include "schedule/gpu/schedule.h"
#include "tests/lower/index_cases.h"
#include "tests/lower/lowered_graph.h"
#include "tests/lower/odd_graphs.h"

namespace tenon::graph_test {
namespace {

LoweredGraph::Changed on_gpu(const kernel::Kernel& lowered) {
  schedule::Scheduled scheduled = schedule::schedule_for_gpu(lowered, {});
  const auto check = [](const kernel::Kernel& kernel) {
    EXPECT_NO_THROW(kernel::verify(kernel)) << kernel::print(kernel);
    EXPECT_EQ(kernel::print(kernel::parse(kernel::print(kernel))), kernel::print(kernel));
  };
  check(scheduled.kernel);
  for (const kernel::Kernel& pack : scheduled.packs) check(pack);
  return {std::move(scheduled.kernel), std::move(scheduled.packs)};
}

class GpuGraphs : public ::testing::TestWithParam<GraphCase> {};

TEST_P(GpuGraphs, GiveTheNumbersOfTheTensorInterpreter) {
  const Graph g = prepared(GetParam());
  LoweredGraph scheduled(g, on_gpu);
  for (const Extents& extents : some_extents()) {
    const Tensors inputs = random_tensors(g, extents);
    const auto expected = graph::interpret(g, inputs);
    const auto actual = scheduled.run(inputs, extents);
    for (size_t i = 0; i < expected.size(); ++i) {
      if (graph::has(g.outputs()[i].value.op(), graph::kLeaf)) continue;
      expect_close(actual[i], expected[i], 1e-6, g.outputs()[i].name + " at " + text_of(extents));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lookups, GpuGraphs, ::testing::ValuesIn(lookup_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Lines, GpuGraphs, ::testing::ValuesIn(line_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(OddGraphs, GpuGraphs, ::testing::ValuesIn(odd_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Graphs, GpuGraphs, ::testing::ValuesIn(all_graphs()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::graph_test
