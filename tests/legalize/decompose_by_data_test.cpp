// Reshapes, broadcasts and slices whose targets are data, against the ops themselves.
#include "tests/legalize/same_results.h"
#include "tests/legalize/some_tensors.h"

namespace tenon::legalize {
namespace {

using namespace graph;
using List = std::vector<int64_t>;

// y = op(x, by), of rank `rank`; x has one symbolic extent.
Graph reshape_graph(const std::string& mode, int64_t length, int rank) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {0, 100}), 3, 1}, DType::F32});
  const Value by = g.input("by", {{length}, DType::I64});
  g.set_outputs(
      {{"y", g.apply(Op::ReshapeTo, {x, by}, {{"mode", mode}, {"shape", fresh(g, rank)}})}});
  EXPECT_FALSE(contains(decompose(g), Op::ReshapeTo));
  return g;
}

graph_test::Tensors by(const Tensor& x, const List& numbers) {
  return {{"x", x}, {"by", integers(numbers)}};
}

TEST(ReshapeTo, KeepsAndFillsIn) {
  const Graph g = reshape_graph("shape", 2, 2);
  for (const List& target : {List{4, 3}, {12, 1}, {-1, 6}, {0, -1}, {0, 3}, {-1, 1}}) {
    expect_same_results(g, by(floats({4, 3, 1}), target));
  }
  expect_same_results(g, by(floats({0, 3, 1}), {0, 7}));
  expect_same_results(g, by(floats({0, 3, 1}), {-1, 5}));
  for (const List& target : {List{5, 3}, {-1, -1}, {-2, -6}, {-1, 5}}) {
    expect_same_error(g, by(floats({4, 3, 1}), target));
  }
  expect_same_error(g, by(floats({0, 3, 1}), {0, -1}));
}

TEST(ReshapeTo, ZeroBeyondTheRankIsAnError) {
  const Graph g = reshape_graph("shape", 4, 4);
  expect_same_results(g, by(floats({2, 3, 1}), {0, 0, 0, 1}));
  expect_same_error(g, by(floats({2, 3, 1}), {0, 0, 0, 0}));
}

TEST(ReshapeTo, ExactTakesZeroAsZero) {
  const Graph g = reshape_graph("exact", 2, 2);
  expect_same_results(g, by(floats({4, 3, 1}), {6, -1}));
  expect_same_results(g, by(floats({0, 3, 1}), {0, 5}));
  expect_same_error(g, by(floats({4, 3, 1}), {0, 3}));
  expect_same_error(g, by(floats({0, 3, 1}), {0, -1}));
}

TEST(ReshapeTo, SqueezesAxesThatAreData) {
  const Graph g = reshape_graph("squeeze", 1, 2);
  for (const List& axes : {List{2}, {-1}}) expect_same_results(g, by(floats({4, 3, 1}), axes));
  for (const List& axes : {List{0}, {-3}}) expect_same_results(g, by(floats({1, 3, 1}), axes));
  for (const List& axes : {List{1}, {3}, {-4}}) {
    expect_same_error(g, by(floats({1, 3, 1}), axes));
    expect_same_error(g, by(floats({0, 3, 1}), axes));
  }
}

TEST(ReshapeTo, SqueezesToAScalar) {
  Graph g;
  const Value x = g.input("x", {{1, Symbol("n", {0, 9})}, DType::F32});
  const Value axes = g.input("by", {{2}, DType::I64});
  const std::string mode = "squeeze";
  g.set_outputs(
      {{"y", g.apply(Op::ReshapeTo, {x, axes}, {{"mode", mode}, {"shape", std::vector<Dim>()}})}});
  expect_same_results(g, by(floats({1, 1}), {1, 0}));
  expect_same_error(g, by(floats({1, 1}), {1, 1}));
  expect_same_error(g, by(floats({1, 2}), {1, 0}));
}

TEST(ReshapeTo, UnsqueezesAxesThatAreData) {
  const Graph g = reshape_graph("unsqueeze", 2, 5);
  for (const List& axes : {List{0, 1}, {4, 0}, {-1, 2}, {-5, -1}}) {
    expect_same_results(g, by(floats({4, 3, 1}), axes));
  }
  expect_same_error(g, by(floats({4, 3, 1}), {5, 0}));
  expect_same_error(g, by(floats({4, 3, 1}), {0, -5}));
}

Graph expand_graph(int64_t length, std::vector<Dim> from, int before, std::vector<bool> own) {
  Graph g;
  const Value x = g.input("x", {Shape(from), DType::F32});
  const Value target = g.input("by", {{length}, DType::I64});
  std::vector<Dim> dims = fresh(g, before);
  for (size_t i = 0; i < from.size(); ++i) dims.push_back(own[i] ? fresh(g, 1)[0] : from[i]);
  g.set_outputs({{"y", g.apply(Op::ExpandTo, {x, target}, {{"shape", dims}})}});
  return g;
}

TEST(ExpandTo, BroadcastsBothWays) {
  const Graph g = expand_graph(3, {Symbol("n", {0, 9}), 4}, 1, {true, false});
  for (const List& target : {List{2, 3, 4}, {1, 1, 1}, {5, 3, 1}, {0, 1, 4}}) {
    expect_same_results(g, by(floats({3, 4}), target));
  }
  expect_same_results(g, by(floats({1, 4}), {2, 6, 1}));
  for (const List& target : {List{2, 2, 4}, {1, 1, 3}, {-1, 3, 4}}) {
    expect_same_error(g, by(floats({3, 4}), target));
  }
}

TEST(ExpandTo, TargetsOfFewerAxes) {
  const Graph g = expand_graph(1, {Symbol("n", {0, 9}), 1}, 0, {false, true});
  expect_same_results(g, by(floats({3, 1}), {5}));
  expect_same_results(g, by(floats({3, 1}), {1}));
}

TEST(ExpandTo, NothingToDefineIsCheckedAllTheSame) {
  const Graph g = expand_graph(2, {3, 4}, 0, {false, false});
  expect_same_results(g, by(floats({3, 4}), {1, 4}));
  expect_same_error(g, by(floats({3, 4}), {2, 4}));
}

Graph slice_graph(bool steps_are_data) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {0, 100}), 5, 2}, DType::F32});
  const auto list = [&](const char* name) { return g.input(name, {{2}, DType::I64}); };
  const Value starts = list("starts"), ends = list("ends"), axes = list("axes");
  const Value steps = steps_are_data ? list("steps") : g.integers({1, 1});
  g.set_outputs(
      {{"y", g.apply(Op::SliceTo, {x, starts, ends, axes, steps}, {{"shape", fresh(g, 3)}})}});
  return g;
}

graph_test::Tensors cuts(int64_t n, const List& starts, const List& ends, const List& axes,
                         const List& steps) {
  return {{"x", floats({n, 5, 2})},
          {"starts", integers(starts)},
          {"ends", integers(ends)},
          {"axes", integers(axes)},
          {"steps", integers(steps)}};
}

graph_test::Tensors cuts(int64_t n, const List& starts, const List& ends, const List& axes) {
  graph_test::Tensors result = cuts(n, starts, ends, axes, {});
  result.erase("steps");
  return result;
}

constexpr int64_t kMost = INT64_MAX, kLeast = INT64_MIN;

TEST(SliceTo, ViewsWithStepsOfOne) {
  const Graph g = slice_graph(false);
  expect_same_results(g, cuts(7, {1, 2}, {6, 5}, {0, 1}));
  expect_same_results(g, cuts(7, {-3, -100}, {kMost, -1}, {-3, 2}));
  expect_same_results(g, cuts(7, {5, 4}, {3, 4}, {0, 1}));  // nothing left
  expect_same_results(g, cuts(7, {100, kLeast}, {kMost, kMost}, {1, 0}));
  expect_same_results(g, cuts(0, {0, 1}, {5, 3}, {0, 1}));
  expect_same_error(g, cuts(7, {1, 2}, {6, 5}, {0, 3}));
  expect_same_error(g, cuts(7, {1, 2}, {6, 5}, {1, -2}));
}

TEST(SliceTo, AnySteps) {
  const Graph g = slice_graph(true);
  expect_same_results(g, cuts(7, {1, 4}, {6, kLeast}, {0, 1}, {2, -2}));
  expect_same_results(g, cuts(7, {kMost, kMost}, {kLeast, kLeast}, {0, 1}, {-1, kLeast}));
  expect_same_results(g, cuts(7, {0, 0}, {kMost, kMost}, {0, 1}, {kMost, 3}));
  expect_same_results(g, cuts(7, {2, 0}, {4, 5}, {0, 1}, {-1, 1}));
  expect_same_results(g, cuts(0, {5, 0}, {kLeast, 5}, {0, 1}, {-1, 1}));
  expect_same_error(g, cuts(7, {0, 0}, {7, 5}, {0, 1}, {0, 1}));
  expect_same_error(g, cuts(0, {0, 0}, {7, 5}, {0, 1}, {0, 1}));
}

}  // namespace
}  // namespace tenon::legalize
