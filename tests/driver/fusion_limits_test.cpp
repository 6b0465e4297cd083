// Regions above the limits of fusion are computed by several kernels, with the same numbers.
#include <gtest/gtest.h>

#include "tests/driver/run_graph.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

driver::Options with_limits(std::optional<FusionLimits> limits) {
  return {.cpu = detect_cpu(CpuIsa::Avx2), .fusion_limits = limits};
}

// As many kernels as that, and the bits of the graph without limits where it is small enough.
void expect_clipped(const Graph& g, std::optional<FusionLimits> limits, int kernels) {
  RunGraph clipped(g, with_limits(limits));
  EXPECT_EQ(clipped.kernels(), kernels);
  const Extents extents = {{"b", 3}, {"s", 5}};
  const Tensors inputs = random_tensors(g, extents);
  expect_close(clipped.run(inputs)[0], graph::interpret(g, inputs)[0], 1e-5, text_of(extents));
}

Graph chain(int steps) {
  Graph g;
  Value x = in(g, "x", {kB, kS});
  for (int i = 0; i < steps; ++i) x = g.mul(x, g.scalar(DType::F32, i % 2 == 0 ? 1.25 : 0.8));
  g.set_outputs({{"y", x}});
  return g;
}

Graph sum_of(int inputs) {
  Graph g;
  Value sum = in(g, "x0", {kB, kS});
  for (int i = 1; i < inputs; ++i) sum = g.add(sum, in(g, fmt::format("x{}", i).c_str(), {kB, kS}));
  g.set_outputs({{"y", sum}});
  return g;
}

TEST(FusionLimits, ALongChainIsSeveralKernels) {
  expect_clipped(chain(10), FusionLimits{.max_steps = 4}, 3);
  expect_clipped(chain(10), FusionLimits{}, 1);
}

TEST(FusionLimits, ASumOfManyIsSeveralKernels) {
  expect_clipped(sum_of(10), FusionLimits{.max_inputs = 4}, 3);
  expect_clipped(sum_of(10), FusionLimits{}, 1);
}

TEST(FusionLimits, EveryTargetHasSome) {
  expect_clipped(chain(130), std::nullopt, 2);
  expect_clipped(sum_of(70), std::nullopt, 2);
  for (const auto device : {program::DeviceKind::EmulatedGpu, program::DeviceKind::Null}) {
    driver::Options options = with_limits({});
    options.device = device;
    EXPECT_EQ(driver::compile(sum_of(70), options).kernels, 2);
  }
}

// Expressions are walked recursively.
TEST(FusionLimits, KeepExpressionsShallow) {
  const driver::Compiled compiled = driver::compile(chain(20000), with_limits({}));
  EXPECT_EQ(compiled.program.steps.size(), (20000 + 127) / 128u);
}

}  // namespace
}  // namespace tenon::graph_test
