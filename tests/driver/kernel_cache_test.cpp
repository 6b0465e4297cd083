// Code is made once for kernels that are equal but for names, within and across graphs.
#include "driver/kernel_cache.h"

#include <gtest/gtest.h>

#include "driver/pipeline.h"
#include "graph/graph.h"

namespace tenon::driver {
namespace {

// Three equal chains under other names.
graph::Graph chains(const std::string& prefix, double scale) {
  graph::Graph g;
  std::vector<graph::Output> outputs;
  for (const char* name : {"a", "b", "c"}) {
    const graph::Value x = g.input(prefix + name, {{sym::batch(), 37}, DType::F32});
    const graph::Value y = g.mul(g.relu(x), g.scalar(DType::F32, scale));
    outputs.push_back({prefix + name + "_out", y});
  }
  g.set_outputs(std::move(outputs));
  return g;
}

program::Program compiled(const graph::Graph& g, CpuIsa isa) {
  return compile(g, {.cpu = detect_cpu(isa)}).program;
}

TEST(KernelCache, EqualKernelsAreMadeOnceAcrossGraphs) {
  const int64_t before = kernel_cache().made();
  const program::Program first = compiled(chains("x", 3.25), CpuIsa::Avx2);
  EXPECT_EQ(first.code.size(), 1u);
  EXPECT_EQ(kernel_cache().made(), before + 1);
  const program::Program second = compiled(chains("y", 3.25), CpuIsa::Avx2);
  EXPECT_EQ(kernel_cache().made(), before + 1);
  EXPECT_EQ(second.code[0], first.code[0]);
  const program::Program other = compiled(chains("x", 3.5), CpuIsa::Avx2);
  EXPECT_EQ(kernel_cache().made(), before + 2);
  EXPECT_NE(other.code[0], first.code[0]);
}

TEST(KernelCache, CodeIsOfOneInstructionSet) {
  if (detect_cpu(std::nullopt).isa != CpuIsa::Avx512) GTEST_SKIP() << "there is only one here";
  const program::Program narrow = compiled(chains("x", 7.75), CpuIsa::Avx2);
  const program::Program wide = compiled(chains("x", 7.75), CpuIsa::Avx512);
  EXPECT_NE(narrow.code[0], wide.code[0]);
}

}  // namespace
}  // namespace tenon::driver
