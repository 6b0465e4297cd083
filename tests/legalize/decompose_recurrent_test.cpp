// Recurrent layers and linear attention as recurrences over time, against the ops themselves.
#include <algorithm>

#include "tests/legalize/same_results.h"
#include "tests/legalize/some_tensors.h"

namespace tenon::legalize {
namespace {

using namespace graph;

struct Kind {
  std::string cell, direction, activations;
  Attributes more = {};
};

int64_t directions_of(const Kind& kind) { return kind.direction == "bidirectional" ? 2 : 1; }

// The time axis is constant, or a symbol where 0 is given. Lengths are an input, or all the time.
Graph recurrent_graph(const Kind& kind, int64_t time, bool lengths) {
  Graph g;
  const int64_t directions = directions_of(kind), hidden = 3;
  const int64_t gates = kind.cell == "rnn" ? 1 : kind.cell == "gru" ? 3 : 4;
  const Dim t = time == 0 ? Dim(Symbol("t", {0, 100})) : Dim(time), batch = Symbol("b", {0, 100});
  const auto input = [&](const char* name, std::vector<Dim> dims) {
    return g.input(name, {Shape(std::move(dims)), DType::F32});
  };
  std::vector<Value> operands{input("x", {t, batch, 2}),
                              input("w", {directions, gates * hidden, 2}),
                              input("r", {directions, gates * hidden, hidden}),
                              input("bias", {directions, 2 * gates * hidden})};
  operands.push_back(lengths ? g.input("lengths", {{batch}, DType::I64})
                             : g.expand(g.dims({t}), {batch}));
  operands.push_back(input("h", {directions, batch, hidden}));
  if (kind.cell == "lstm") {
    operands.push_back(input("c", {directions, batch, hidden}));
    operands.push_back(input("peepholes", {directions, 3 * hidden}));
  }
  Attributes attributes = kind.more;
  const auto functions =
      static_cast<size_t>(std::ranges::count(kind.activations, ',')) + 1;  // of all directions
  attributes.set("cell", kind.cell);
  attributes.set("direction", kind.direction);
  attributes.set("activations", kind.activations);
  attributes.set("alpha", std::vector<double>(functions, 0.3));
  attributes.set("beta", std::vector<double>(functions, 0.6));
  std::vector<Output> outputs;
  for (const Value& result : g.apply_all(Op::Recurrent, operands, attributes)) {
    outputs.push_back({"y" + std::to_string(outputs.size()), result});
  }
  g.set_outputs(std::move(outputs));
  EXPECT_FALSE(contains(decompose(g), Op::Recurrent));
  return g;
}

void expect_same(const Kind& kind, int64_t time, bool lengths) {
  SCOPED_TRACE(kind.cell + " " + kind.direction + " " + kind.activations);
  const Graph g = recurrent_graph(kind, time, lengths);
  for (const int64_t t : time == 0 ? std::vector<int64_t>{0, 1, 7} : std::vector<int64_t>{time}) {
    graph_test::Tensors inputs = graph_test::random_tensors(g, {{"t", t}, {"b", 3}});
    if (lengths) inputs["lengths"] = integers({t, t / 2, 0});
    expect_same_results(g, inputs, 1e-5);
  }
}

const Kind kKinds[] = {
    {"rnn", "forward", "tanh"},
    {"rnn", "reverse", "leakyrelu"},
    {"rnn", "bidirectional", "elu,affine"},
    {"gru", "forward", "sigmoid,tanh"},
    {"gru", "reverse", "hardsigmoid,softsign", {{"linear_before_reset", int64_t{1}}}},
    {"gru", "bidirectional", "sigmoid,tanh,sigmoid,scaledtanh", {{"clip", 0.4}}},
    {"lstm", "forward", "sigmoid,tanh,tanh"},
    {"lstm", "reverse", "sigmoid,softplus,relu", {{"input_forget", int64_t{1}}}},
    {"lstm", "bidirectional", "sigmoid,tanh,tanh,sigmoid,thresholdedrelu,tanh", {{"clip", 0.5}}},
};

TEST(Recurrent, AFewStepsOneAfterTheOther) {
  for (const Kind& kind : kKinds) {
    for (const int64_t time : {1, 3}) {
      expect_same(kind, time, false);
      expect_same(kind, time, true);
    }
    EXPECT_FALSE(contains(decompose(recurrent_graph(kind, 3, true)), Op::Loop));
  }
}

TEST(Recurrent, ManyStepsAreALoop) {
  for (const Kind& kind : kKinds) {
    for (const int64_t time : {6, 0}) {
      expect_same(kind, time, false);
      expect_same(kind, time, true);
    }
    EXPECT_TRUE(contains(decompose(recurrent_graph(kind, 6, false)), Op::Loop));
  }
}

TEST(Recurrent, LengthsBeyondTheTimeAreErrors) {
  const Graph g = recurrent_graph(kKinds[0], 6, true);
  graph_test::Tensors inputs = graph_test::random_tensors(g, {{"b", 2}});
  for (const int64_t length : {-1, 7}) {
    inputs["lengths"] = integers({length, 3});
    expect_same_error(g, inputs);
  }
}

void expect_same_attention(int64_t delta, const Dim& time, const std::vector<int64_t>& times) {
  Graph g;
  const Dim batch = Symbol("b", {0, 100});
  const auto input = [&](const char* name, std::vector<Dim> dims) {
    return g.input(name, {Shape(std::move(dims)), DType::F32});
  };
  const std::vector<Value> operands{
      input("q", {batch, 4, time, 3}),     input("k", {batch, 2, time, 3}),
      input("v", {batch, 2, time, 5}),     input("state", {batch, 2, 3, 5}),
      input("decay", {batch, 2, time, 3}), input("rate", {batch, 2, time, 1})};
  const std::vector<Value> results = g.apply_all(Op::LinearAttention, operands, {{"delta", delta}});
  g.set_outputs({{"y", results[0]}, {"last", results[1]}});
  EXPECT_FALSE(contains(decompose(g), Op::LinearAttention));
  for (const int64_t t : times) {
    expect_same_results(g, graph_test::random_tensors(g, {{"b", 2}, {"t", t}}), 1e-5);
  }
}

TEST(LinearAttention, StepByStep) {
  for (const int64_t delta : {0, 1}) {
    expect_same_attention(delta, 3, {3});
    expect_same_attention(delta, Symbol("t", {0, 100}), {0, 1, 9});
  }
}

}  // namespace
}  // namespace tenon::legalize
