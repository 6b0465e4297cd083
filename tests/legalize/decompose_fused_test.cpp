// Fused ops mean what their decompositions mean, whatever the extents; where all are taken apart,
// none is left.
#include "legalize/decompose_fused.h"

#include "tests/legalize/same_results.h"
#include "tests/legalize/taken_apart.h"

namespace tenon::legalize {
namespace {

using graph::Activation;
using graph::Graph;
using graph::Value;

struct Fused : testing::Test {
  Graph g;
  const Dim batch = Symbol("batch", {1, 8}), length = Symbol("length", {1, 64}),
            keys = Symbol("keys", {1, 64});

  Value input(const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F64});
  }

  void expect_same(Value y, const graph_test::Extents& extents = {
                                {"batch", 3}, {"length", 5}, {"keys", 7}}) {
    g.set_outputs({{"y", y}});
    const Graph apart = taken_apart(g);
    graph::verify(apart);
    for (const graph::Node* node : apart.topological()) EXPECT_FALSE(is_fused(node->op()));
    const auto inputs = graph_test::random_tensors(g, extents);
    const auto expected = graph::interpret(g, inputs);
    graph_test::expect_close(graph::interpret(apart, inputs)[0], expected[0], 1e-12, "y");
  }
};

TEST_F(Fused, Softmax) { expect_same(g.softmax(input("x", {batch, length, 3}), 1)); }

TEST_F(Fused, Norms) {
  const Value x = input("x", {batch, length, 13}), scale = input("scale", {13});
  expect_same(g.layer_norm(g.rms_norm(x, scale, 1e-3), scale, input("bias", {13}), 1e-5));
}

TEST_F(Fused, RotaryOfHalvesAndOfNeighbours) {
  for (const bool interleaved : {false, true}) {
    for (const int64_t pairs : {1, 3}) {
      g = Graph();
      const Value x = input("x", {batch, length, 12});
      const Value each = g.rotary(x, input("cos", {length, pairs}), input("sin", {length, pairs}),
                                  {.heads = 2, .interleaved = interleaved});
      const Value c = input("cos2", {batch, length, pairs}),
                  s = input("sin2", {batch, length, pairs});
      expect_same(g.rotary(each, c, s, {.heads = 2, .interleaved = interleaved}));
    }
  }
}

TEST_F(Fused, LinearsWithAllTheirParts) {
  const Value x = input("x", {batch, length, 5}), w = input("w", {5, 4});
  const Value rows = input("rows", {batch, length, 1}), residual = input("r", {batch, length, 4});
  Value y = g.linear(x, w, input("bias", {4}), residual, Activation::Tanh, rows);
  y = g.linear(y, input("w2", {4, 5}), {}, x, Activation::None);
  expect_same(g.gated_linear(y, w, input("up", {5, 4}), Activation::Silu, rows));
}

TEST_F(Fused, GatedLinearOfAMatrix) {
  expect_same(g.gated_linear(input("x", {length, 5}), input("gate", {5, 4}), input("up", {5, 4}),
                             Activation::Gelu));
}

struct Form {
  const char* name;
  graph::AttentionOptions options;
  bool masked = false;
};
const Form kForms[] = {
    {"plain", {.heads = 4}},
    {"grouped", {.heads = 4, .kv_heads = 2, .scale = 0.3}},
    {"softcap", {.heads = 4, .kv_heads = 1, .softcap = 0.5}, true},
    {"causal", {.heads = 4, .causal = true}},
    {"window", {.heads = 4, .kv_heads = 2, .causal = true, .window = 2, .softcap = 2}},
    {"causal_masked", {.heads = 4, .causal = true, .window = 3}, true},
};

struct FusedAttention : Fused, testing::WithParamInterface<Form> {};

TEST_P(FusedAttention, IsTheSameTakenApart) {
  Form form = GetParam();
  const int64_t kv_heads = form.options.kv_heads == 0 ? 4 : form.options.kv_heads;
  const Value q = input("q", {batch, length, 12}), k = input("k", {batch, keys, kv_heads * 3});
  const Value v = input("v", {batch, keys, kv_heads * 3});
  if (form.masked) form.options.mask = input("mask", {batch, 1, 1, keys});
  expect_same(g.attention(q, k, v, form.options));
  expect_same(g.outputs()[0].value, {{"batch", 1}, {"length", 6}, {"keys", 2}});  // some see none
}

INSTANTIATE_TEST_SUITE_P(Forms, FusedAttention, testing::ValuesIn(kForms),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FusedOps, NarrowFloatsAreSquaredInF32) {
  Graph g;
  const Value x = g.input("x", {{1, 2}, DType::F16}), scale = g.input("s", {{2}, DType::F16});
  g.set_outputs({{"y", g.rms_norm(x, scale, 0)}});
  graph_test::Tensors inputs = graph_test::random_tensors(g, {});
  for (size_t i = 0; i < 2; ++i) store_from_f64(DType::F16, &inputs["x"].bytes[2 * i], 1024);
  const auto expected = graph::interpret(g, inputs),
             actual = graph::interpret(taken_apart(g), inputs);
  graph_test::expect_close(actual[0], expected[0], 1e-3, "y");  // 1024^2 is no f16
}

}  // namespace
}  // namespace tenon::legalize
