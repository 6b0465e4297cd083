// Values that share memory, through the whole pipeline against the interpreter: views, parts of
// concats computed in place, at several extents of one compile.
#include <gtest/gtest.h>

#include "program/print.h"
#include "tests/driver/run_graph.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

const Dim kRows = Symbol("n", {0, 300});

void expect_interpreted(const Graph& g, std::vector<int64_t> extents, size_t steps) {
  RunGraph compiled(g);
  EXPECT_EQ(compiled.program().steps.size(), steps) << program::print(compiled.program());
  for (const int64_t n : extents) {
    const Tensors inputs = random_tensors(g, {{"n", n}});
    const auto expected = graph::interpret(g, inputs);
    for (const int64_t spare : {0, 3}) {
      const auto actual = compiled.run(inputs, spare);
      for (size_t i = 0; i < expected.size(); ++i) {
        expect_close(actual[i], expected[i], 1e-5, g.outputs()[i].name + " " + std::to_string(n));
      }
    }
  }
}

TEST(Memory, AConcatOfRowsNeedsNoKernel) {
  Graph g;
  const Value x = in(g, "x", {kRows, 8}), w = in(g, "w", {8, 8}), v = in(g, "v", {3, 8});
  const Value a = g.matmul(x, w), b = g.matmul(g.relu(x), w), c = g.matmul(v, w);
  const Value y = g.concat({a, c, b}, 0);
  g.set_outputs({{"y", g.softmax(y, 1)}, {"a", g.reduce(Op::ReduceSum, a, {0})}});
  // relu and w in panels, three products, softmax, sum
  expect_interpreted(g, {0, 1, 5, 64, 300}, 9);
}

TEST(Memory, PartsMayBeTheCallersOrAppearTwice) {
  Graph g;
  const Value x = in(g, "x", {kRows, 8}), w = in(g, "w", {8, 8});
  const Value a = g.softmax(x, 1), b = g.softmax(g.mul(x, x), 1);
  const Value inner = g.concat({a, x, b}, 0);
  g.set_outputs({{"y", g.concat({inner, a, g.relu(w), g.softmax(w, 1)}, 0)}});
  expect_interpreted(g, {0, 1, 5, 300}, 6);
}

TEST(Memory, AnOutputIsComputedInItsOwnMemory) {
  Graph g;
  const Value x = in(g, "x", {kRows, 8});
  const Value a = g.softmax(x, 1);
  g.set_outputs({{"y", g.reshape(a, {kRows, 2, 4})}, {"z", g.reduce(Op::ReduceMax, a, {0})}});
  expect_interpreted(g, {0, 1, 7, 300}, 2);
}

TEST(Memory, AnOutputThatMayHaveGapsIsCopied) {
  Graph g;
  const Value x = in(g, "x", {kRows, 8});
  g.set_outputs({{"y", g.reshape(g.softmax(x, 1), {2, kRows, 4})}});
  expect_interpreted(g, {0, 1, 7, 300}, 2);
}

TEST(Memory, ViewsArePrinted) {
  Graph g;
  const Value x = in(g, "x", {kRows, 8});
  g.set_outputs({{"y", g.softmax(g.concat({g.softmax(x, 1), g.softmax(g.mul(x, x), 1)}, 0), 1)}});
  const std::string text = program::print(RunGraph(g).program());
  EXPECT_NE(text.find("view 1 of arena 0 at byte 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("view 2 of arena 0 at byte n*32\n"), std::string::npos) << text;
}

}  // namespace
}  // namespace tenon::graph_test
