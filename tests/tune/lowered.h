// The kernels of a graph as a compile hands them to whoever chooses their schedules.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "base/cpu_info.h"
#include "driver/pipeline.h"
#include "graph/graph.h"

namespace tenon::tune {

inline driver::Options options_here() { return {.cpu = cpu_info()}; }

inline program::Program plan(const graph::Graph& graph, const driver::Options& options) {
  driver::Pipeline pipeline(options);
  return pipeline.plan(pipeline.optimize(pipeline.preprocess(graph)).graph).program;
}

inline void with_lowered(const graph::Graph& graph,
                         const std::function<void(const driver::LoweredKernels&)>& visit) {
  int visits = 0;
  driver::Options options = options_here();
  options.choose = [&](const driver::LoweredKernels& lowered) {
    ++visits;
    visit(lowered);
    return std::vector<schedule::Choice>(lowered.kernels.size());
  };
  plan(graph, options);
  EXPECT_EQ(visits, 1);
}

// y = relu(x * w), and a sum over the rows of that: kernels with tiles, and with strips of columns.
inline graph::Graph linear_and_sum(const Symbol& rows = Symbol("m"), int64_t columns = 96) {
  graph::Graph g;
  const auto x = g.input("x", {{rows, 64}, DType::F32});
  const auto w = g.param("w", {{64, columns}, DType::F32});
  const auto y = g.relu(g.matmul(x, w));
  g.set_outputs({{"y", y}, {"sum", g.reduce(graph::Op::ReduceSum, y, {0})}});
  return g;
}

}  // namespace tenon::tune
