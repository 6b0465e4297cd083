// Custom functions in the tensor IR: never one node for two applications, in their order, and run
// by the interpreter.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/host_ops.h"
#include "graph/interpret.h"
#include "graph/specialize.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

using Types = std::span<const TensorType>;

// x * dims[0], twice as long.
CustomFunction doubled() {
  return {"doubled",
          [](Types inputs, std::span<const Dim>) {
            return std::vector<TensorType>{{{inputs[0].shape[0] * 2}, DType::F32}};
          },
          [](const CustomCall& call) {
            const auto x = call.input<float>(0);
            const auto y = call.output<float>(0);
            for (size_t i = 0; i < y.size(); ++i)
              y[i] = x[i % x.size()] * static_cast<float>(call.dims[0]);
          }};
}

TEST(Custom, IsANodeOfItsOwnEachTimeItIsApplied) {
  const CustomFunction function = doubled();
  Graph g;
  const Value x = g.input("x", {{3}, DType::F32});
  const Value a = g.custom(function, {x}, {1})[0], b = g.custom(function, {x}, {1})[0];
  EXPECT_NE(a.node, b.node);
  EXPECT_NE(a.node->digest(), b.node->digest());
  Graph same;
  const Value again = same.custom(function, {same.input("x", {{3}, DType::F32})}, {1})[0];
  EXPECT_EQ(again.node->digest(), a.node->digest());  // what is built again alike is alike
  Graph other;
  const Value by_another = other.custom(doubled(), {other.input("x", {{3}, DType::F32})}, {1})[0];
  EXPECT_NE(by_another.node->digest(), a.node->digest());
}

TEST(Custom, ComesInTheOrderInWhichItWasApplied) {
  Graph g;
  const Value x = g.input("x", {{3}, DType::F32});
  std::vector<Output> outputs;
  for (int i = 0; i < 4; ++i)
    outputs.push_back({std::to_string(i), g.custom(doubled(), {x}, {1})[0]});
  std::ranges::reverse(outputs);
  g.set_outputs(outputs);
  std::vector<int64_t> tokens;
  for (const Node* node : g.topological()) {
    if (node->op() == Op::Custom) tokens.push_back(node->attributes().integer("token"));
  }
  EXPECT_EQ(tokens, (std::vector<int64_t>{0, 1, 2, 3}));
  verify(g);
}

TEST(Custom, IsRunByTheInterpreter) {
  Graph g;
  const Dim n = Symbol("n", {1, 9});
  const Value x = g.input("x", {{n}, DType::F32});
  const Value y = g.custom(doubled(), {x}, {n + 1})[0];
  EXPECT_EQ(y.type().to_string(), "f32[n*2]");
  g.set_outputs({{"y", y}});
  const auto results = interpret(g, {{"x", f32({2}, {1, 2})}});
  expect_near(results[0], {3, 6, 3, 6}, 0);
  const Graph fixed = specialize(g, {{"n", 3}});
  EXPECT_EQ(fixed.outputs()[0].value.type().to_string(), "f32[6]");
  expect_near(interpret(fixed, {{"x", f32({3}, {1, 2, 3})}})[0], {4, 8, 12, 4, 8, 12}, 0);
}

TEST(Custom, IsFoundInBodies) {
  Graph g;
  const Value flag = g.input("flag", {{}, DType::Bool}), x = g.input("x", {{3}, DType::F32});
  const auto body = [&](bool custom) {
    Graph inner = g.nested();
    const Value in = inner.input("in0", x.type());
    inner.set_outputs(
        {{"out0", custom ? inner.custom(doubled(), {in}, {1})[0] : inner.concat({in, in}, 0)}});
    return Subgraph(std::move(inner));
  };
  for (const bool custom : {false, true}) {
    Graph model = g;
    const Value y = model.apply(
        Op::If, {flag, x, x},
        {{"then", body(false)}, {"else", body(custom)}, {"extents", std::vector<Dim>{6}}});
    model.set_outputs({{"y", y}});
    EXPECT_EQ(calls_custom(model), custom);
  }
}

}  // namespace
}  // namespace tenon::graph
