// The layers of transformers, compiled and run at several extents against the interpreter: by
// kernels of their own or by what they are made of.
#include <gtest/gtest.h>

#include "tests/driver/run_graph.h"

namespace tenon::graph_test {
namespace {

using graph::Activation;
using graph::Graph;
using graph::Value;

struct Layers : testing::Test {
  Graph g;
  const Dim batch = Symbol("batch", {1, 8}), length = Symbol("length", {1, 64}),
            keys = Symbol("keys", {1, 64});

  Value input(const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  }
  Value param(const char* name, Shape shape) {
    return g.param(name, {std::move(shape), DType::F32});
  }

  void expect_runs(std::vector<graph::Output> outputs, double tolerance = 2e-5) {
    g.set_outputs(std::move(outputs));
    RunGraph compiled(g);
    for (const Extents& extents : {Extents{{"batch", 1}, {"length", 1}, {"keys", 1}},
                                   Extents{{"batch", 3}, {"length", 5}, {"keys", 21}},
                                   Extents{{"batch", 2}, {"length", 17}, {"keys", 9}}}) {
      const Tensors inputs = random_tensors(g, extents);
      const auto expected = graph::interpret(g, inputs), actual = compiled.run(inputs);
      for (size_t i = 0; i < expected.size(); ++i) {
        expect_close(actual[i], expected[i], tolerance, g.outputs()[i].name);
      }
    }
  }
};

TEST_F(Layers, RmsNorm) {
  expect_runs({{"y", g.rms_norm(input("x", {batch, length, 37}), param("s", {37}), 1e-5)}});
}

TEST_F(Layers, Rotary) {
  const Value x = input("x", {batch, length, 24});
  const Value cos = input("cos", {length, 3}), sin = input("sin", {length, 3});
  const Value c = input("c", {batch, length, 6}), s = input("s", {batch, length, 6});
  expect_runs({{"halves", g.rotary(x, cos, sin, {.heads = 3})},
               {"neighbours", g.rotary(x, cos, sin, {.heads = 3, .interleaved = true})},
               {"whole", g.rotary(x, c, s, {.heads = 2})}});
}

TEST_F(Layers, GatedLinearAndRowScale) {
  const Value x = input("x", {batch, length, 19}), rows = input("rows", {batch, length, 1});
  const Value gate = param("gate", {19, 34}), up = param("up", {19, 34});
  const Value bias = param("bias", {34}), residual = input("residual", {batch, length, 34});
  expect_runs({{"gated", g.gated_linear(x, gate, up, Activation::Silu)},
               {"scaled", g.gated_linear(x, gate, up, Activation::GeluTanh, rows)},
               {"linear", g.linear(x, gate, bias, residual, Activation::Silu, rows)}});
}

TEST_F(Layers, AttentionThatSeesSomeKeys) {
  const Value q = input("q", {batch, length, 32}), k = input("k", {batch, keys, 16});
  const Value v = input("v", {batch, keys, 16}), mask = input("mask", {batch, 1, 1, keys});
  graph::AttentionOptions options{.heads = 4, .kv_heads = 2, .causal = true};
  const Value causal = g.attention(q, k, v, options);
  options.window = 3;
  const Value window = g.attention(q, k, v, options);
  options.mask = mask;
  options.softcap = 0.7;
  expect_runs({{"causal", causal}, {"window", window}, {"all", g.attention(q, k, v, options)}});
}

}  // namespace
}  // namespace tenon::graph_test
