// Targets, axes and lengths that are data, compiled: one program serves every target, and numbers
// that cannot be are errors of the run.
#include <limits>
#include <tuple>

#include "graph/evaluate.h"
#include "tests/driver/run_graph.h"
#include "tests/legalize/some_tensors.h"

namespace tenon::graph_test {
namespace {

using namespace graph;
using namespace legalize;
using List = std::vector<int64_t>;

void expect_like_interpreter(RunGraph& compiled, const Graph& g, const Tensors& inputs) {
  const std::vector<Tensor> expected = interpret(g, inputs), actual = compiled.run(inputs);
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    expect_close(actual[i], expected[i], 1e-5, g.outputs()[i].name);
  }
}

void expect_error(RunGraph& compiled, const Tensors& inputs) {
  try {
    compiled.run(inputs);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::User) << error.what();
  }
}

TEST(ByData, ReshapesAndReduces) {
  Graph g;
  const Value x = g.input("x", {{Symbol("n", {0, 100}), 4}, DType::F32});
  const Value target = g.input("target", {{3}, DType::I64});
  const Value axes = g.input("axes", {{2}, DType::I64});
  const std::string shape = "shape", sum = "reduce_sum";
  const Value y =
      g.apply(Op::ReshapeTo, {g.relu(x), target}, {{"mode", shape}, {"shape", fresh(g, 3)}});
  const Value z = g.apply(Op::ReduceOver, {y, axes},
                          {{"op", sum}, {"shape", fresh(g, 1)}, {"keep", int64_t{0}}});
  g.set_outputs({{"y", y}, {"z", g.unary(Op::Neg, z)}});
  RunGraph compiled(g);
  const auto inputs = [](int64_t n, const List& to, const List& over) {
    return Tensors{{"x", floats({n, 4})}, {"target", integers(to)}, {"axes", integers(over)}};
  };
  expect_like_interpreter(compiled, g, inputs(6, {2, 3, 4}, {0, 1}));
  expect_like_interpreter(compiled, g, inputs(6, {-1, 2, 2}, {-1, 0}));
  expect_like_interpreter(compiled, g, inputs(5, {0, 0, 1}, {2, 1}));
  expect_like_interpreter(compiled, g, inputs(0, {0, 7, 2}, {2, 0}));
  expect_error(compiled, inputs(6, {5, 5, 1}, {0, 1}));
  expect_error(compiled, inputs(6, {2, 3, 4}, {0, 3}));
  expect_error(compiled, inputs(6, {2, 3, 4}, {0, 0}));
  expect_like_interpreter(compiled, g, inputs(6, {2, 3, 4}, {1, 2}));  // an error leaves no trace
}

TEST(ByData, SlicesAndSplits) {
  Graph g;
  const Value x = g.input("x", {{3, Symbol("n", {0, 100})}, DType::F32});
  const auto list = [&](const char* name) { return g.input(name, {{1}, DType::I64}); };
  const Value cut =
      g.apply(Op::SliceTo, {x, list("start"), list("end"), g.integers({1}), g.integers({1})},
              {{"shape", std::vector<Dim>{3, fresh(g, 1)[0]}}});
  const Value sizes = g.input("sizes", {{2}, DType::I64});
  const std::vector<Value> parts =
      g.apply_all(Op::Split, {cut, sizes}, {{"axis", int64_t{1}}, {"extents", fresh(g, 2)}});
  g.set_outputs({{"a", g.relu(parts[0])}, {"b", g.relu(parts[1])}});
  RunGraph compiled(g);
  const auto inputs = [](int64_t n, int64_t start, int64_t end, const List& of) {
    return Tensors{{"x", floats({3, n})},
                   {"start", integers({start})},
                   {"end", integers({end})},
                   {"sizes", integers(of)}};
  };
  expect_like_interpreter(compiled, g, inputs(9, 2, 8, {4, 2}));
  expect_like_interpreter(compiled, g, inputs(9, -3, INT64_MAX, {0, 3}));
  expect_like_interpreter(compiled, g, inputs(20, 1, -1, {1, 17}));
  expect_like_interpreter(compiled, g, inputs(0, 0, 5, {0, 0}));
  expect_error(compiled, inputs(9, 2, 8, {4, 3}));
  expect_error(compiled, inputs(9, 2, 8, {7, -1}));
}

TEST(ByData, AnLstmOverAnyTime) {
  Graph g;
  const Dim time = Symbol("time", {0, 100}), batch = Symbol("batch", {1, 100});
  const auto input = [&](const char* name, std::vector<Dim> dims) {
    return g.input(name, {Shape(std::move(dims)), DType::F32});
  };
  const std::vector<Value> operands{input("x", {time, batch, 5}),
                                    input("w", {2, 16, 5}),
                                    input("r", {2, 16, 4}),
                                    input("bias", {2, 32}),
                                    g.input("lengths", {{batch}, DType::I64}),
                                    input("h", {2, batch, 4}),
                                    input("c", {2, batch, 4}),
                                    input("peepholes", {2, 12})};
  const std::string cell = "lstm", both = "bidirectional";
  const std::string names = "sigmoid,tanh,tanh,sigmoid,tanh,relu";
  const std::vector<Value> results = g.apply_all(Op::Recurrent, operands,
                                                 {{"cell", cell},
                                                  {"direction", both},
                                                  {"activations", names},
                                                  {"alpha", std::vector<double>(6, 0)},
                                                  {"beta", std::vector<double>(6, 0)}});
  g.set_outputs({{"all", results[0]}, {"h", results[1]}, {"c", results[2]}});
  RunGraph compiled(g);
  for (const int64_t t : {1, 9, 0, 4}) {
    Tensors inputs = random_tensors(g, {{"time", t}, {"batch", 3}});
    inputs["lengths"] = integers({t, t / 2, 0});
    expect_like_interpreter(compiled, g, inputs);
    inputs["lengths"] = integers({t, t + 1, 0});
    expect_error(compiled, inputs);
  }
}

TEST(ByData, CountsRangesBetweenTheEndsOfI64) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  Graph g;
  const auto number = [&](const char* name) { return g.input(name, {{}, DType::I64}); };
  g.set_outputs({{"y", g.apply(Op::Range, {number("from"), number("to"), number("by")},
                               {{"shape", fresh(g, 1)}})}});
  RunGraph compiled(g);
  const auto inputs = [](int64_t from, int64_t to, int64_t by) {
    const auto scalar = [](int64_t value) {
      Tensor tensor = integers({value});
      tensor.shape.clear();
      return tensor;
    };
    return Tensors{{"from", scalar(from)}, {"to", scalar(to)}, {"by", scalar(by)}};
  };
  const std::tuple<int64_t, int64_t, int64_t, List> cases[] = {
      {-kMost, kMost, kMost, {-kMost, 0}},
      {5, 0, kLeast, {5}},
      {kMost, kLeast, kLeast, {kMost, -1}},
      {kMost - 3, kMost, 2, {kMost - 3, kMost - 1}},
      {kLeast, kMost, kMost, {kLeast, -1, kMost - 1}},
      {3, 3, kMost, {}},
      {3, kLeast, kMost, {}},
      {7, 1, -3, {7, 4}},
  };
  for (const auto& [from, to, by, expected] : cases) {
    const Tensors given = inputs(from, to, by);
    EXPECT_EQ(to_integers(compiled.run(given)[0]), expected) << from << " " << to << " " << by;
    EXPECT_EQ(to_integers(interpret(g, given)[0]), expected) << from << " " << to << " " << by;
  }
  expect_error(compiled, inputs(0, 5, 0));
  expect_error(compiled, inputs(kLeast, kMost, 1));
}

}  // namespace
}  // namespace tenon::graph_test
