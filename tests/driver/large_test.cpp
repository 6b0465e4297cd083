// Results that are larger than the caches go past them: what only large extents reach, against
// arithmetic by hand.
#include <gtest/gtest.h>

#include "tests/driver/run_graph.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

// Whole lines, and rows that begin anywhere in a line; 65 MiB and more.
TEST(Large, ATransposeGoesPastTheCaches) {
  Graph g;
  const Value x = g.input("x", {{Symbol("m"), Symbol("n")}, DType::F32});
  g.set_outputs({{"y", g.transpose(x, {1, 0})}});
  for (const CpuIsa isa : isas_here()) {
    RunGraph graph(g, isa);
    for (const auto& [m, n] : {std::pair<size_t, size_t>{4096, 4160}, {4099, 4163}}) {
      std::vector<float> numbers(m * n);
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i);
      graph::Tensor input{DType::F32, {static_cast<int64_t>(m), static_cast<int64_t>(n)}, {}};
      const auto bytes = std::as_bytes(std::span(numbers));
      input.bytes.assign(bytes.begin(), bytes.end());
      const graph::Tensor turned = graph.run({{"x", std::move(input)}})[0];
      const auto* y = reinterpret_cast<const float*>(turned.bytes.data());
      size_t wrong = 0;
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < m; ++j) wrong += y[i * m + j] != static_cast<float>(j * n + i);
      }
      EXPECT_EQ(wrong, 0U) << m << " x " << n;
    }
  }
}

}  // namespace
}  // namespace tenon::graph_test
