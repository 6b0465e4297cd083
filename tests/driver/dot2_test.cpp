// Graphs with contractions of bf16: by products of pairs where the CPU has them, close to the
// interpreter either way.
#include <gtest/gtest.h>

#include "schedule/dots.h"
#include "tests/driver/run_graph.h"

namespace tenon::graph_test {
namespace {

using graph::Graph;
using graph::Value;

// gelu(x @ w + bias) + x, of bf16: x is read as pairs by the product and as elements by the sum.
Graph residual_graph(int64_t width) {
  Graph g;
  const Value x = g.input("x", {{Symbol("b", {1, 64}), width}, DType::BF16});
  const Value w = g.param("w", {{width, width}, DType::BF16});
  const Value bias = g.param("bias", {{width}, DType::BF16});
  // Twice: the first result is no input, so that the second might take its memory.
  const Value once = g.linear(x, w, bias, x, graph::Activation::Gelu);
  g.set_outputs({{"y", g.linear(once, w, bias, once, graph::Activation::None)}});
  return g;
}

bool multiplies_pairs(const Graph& g, const CpuInfo& cpu) {
  bool found = false;
  driver::Options options{.cpu = cpu};
  options.see_kernel = [&](const kernel::Kernel& kernel) {
    found = found || schedule::has_dot2(kernel);
  };
  const driver::Compiled compiled = driver::compile(g, options);
  EXPECT_EQ(compiled.program.cpu.bf16, found);  // so that no other CPU runs it
  return found;
}

TEST(Dot2, IsUsedWhereTheCpuHasIt) {
  CpuInfo cpu = detect_cpu(std::nullopt);
  if (cpu.isa != CpuIsa::Avx512) GTEST_SKIP() << "no AVX-512 here";
  cpu.bf16 = true;
  EXPECT_TRUE(multiplies_pairs(residual_graph(64), cpu));
  cpu.bf16 = false;
  EXPECT_FALSE(multiplies_pairs(residual_graph(64), cpu));
}

TEST(Dot2, IsCloseToTheInterpreter) {
  for (const int64_t width : {48, 33}) {
    const Graph g = residual_graph(width);
    for (const CpuIsa isa : isas_here()) {
      RunGraph compiled(g, isa);
      for (const int64_t b : {1, 13}) {
        const Tensors inputs = random_tensors(g, {{"b", b}});
        const auto expected = graph::interpret(g, inputs);
        const auto actual = compiled.run(inputs);
        // Rounded to 8 bits, twice.
        expect_close(actual[0], expected[0], 0.02, fmt::format("{} {}", width, to_string(isa)));
      }
    }
  }
}

}  // namespace
}  // namespace tenon::graph_test
