// Concats of many parts become nests of concats that give the same.
#include <gtest/gtest.h>

#include <algorithm>

#include "legalize/legalize.h"
#include "tests/legalize/same_results.h"

namespace tenon::legalize {
namespace {

using namespace graph;

constexpr size_t kMost = 16;  // parts of one concat

// y joins so many parts along an axis; every third has another extent, every seventh a symbolic
// one.
Graph graph_of(int64_t count, int64_t axis) {
  Graph g;
  const Dim n = Symbol("n", {0, 9});
  std::vector<Value> parts;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<Dim> dims{2, 2};
    dims[static_cast<size_t>(axis)] = i % 7 == 0 ? n : Dim(i % 3 == 0 ? 1 : 2);
    parts.push_back(g.input("x" + std::to_string(i), {Shape(dims), DType::F32}));
  }
  g.set_outputs({{"y", g.concat(parts, axis)}});
  return g;
}

std::vector<size_t> concats(const Graph& graph) {
  std::vector<size_t> parts;
  for (const Node* node : graph.topological()) {
    if (node->op() == Op::Concat) parts.push_back(node->operands().size());
  }
  return parts;
}

TEST(NestConcats, JoinsAFewPartsAtATimeInTheirOrder) {
  for (const int64_t count : {17, 100, 300}) {
    for (const int64_t axis : {0, 1}) {
      const Graph wide = graph_of(count, axis), nest = nest_concats(wide);
      verify(nest);
      const std::vector<size_t> parts = concats(nest);
      EXPECT_LE(std::ranges::max(parts), kMost);
      EXPECT_GE(std::ranges::min(parts), 2U);
      EXPECT_LE(parts.size(), static_cast<size_t>(count) / 2);
      const auto inputs = graph_test::random_tensors(wide, {{"n", 3}});
      graph_test::expect_close(interpret(nest, inputs)[0], interpret(wide, inputs)[0], 0, "y");
    }
  }
}

TEST(NestConcats, LeavesThoseOfFewPartsAlone) {
  const Graph few = graph_of(16, 0);
  EXPECT_EQ(nest_concats(few).outputs()[0].value, few.outputs()[0].value);
}

}  // namespace
}  // namespace tenon::legalize
