// Fused ops that are taken apart into primitives are found again by the passes, with the same
// attributes, and nothing of the primitives is left.
#include "simplify/simplify.h"
#include "tests/fuse/compare.h"
#include "tests/legalize/taken_apart.h"

namespace tenon::fuse {
namespace {

struct FindAgain : testing::Test {
  Graph g;
  const Dim batch = sym::batch(), seq = sym::seq();
  DType dtype = DType::F64;

  Value input(const char* name, Shape shape) { return g.input(name, {std::move(shape), dtype}); }
  Value param(const char* name, Shape shape) { return g.param(name, {std::move(shape), dtype}); }

  // Only movement and masks may stand beside the op that is found.
  void expect_found(Value y, double tolerance = 1e-9) {
    g.set_outputs({{"y", y}});
    const Graph apart = legalize::taken_apart(g);
    EXPECT_EQ(count(apart, y.op()), 0);
    for (const Graph& source : {apart, simplify::simplify(apart)}) {
      const Graph fused = fuse_all(source);
      const Node* found = only(fused, y.op());
      ASSERT_TRUE(found) << graph::print(fused);
      EXPECT_EQ(found->attributes(), y.node->attributes()) << graph::print(fused);
      EXPECT_EQ(found->operand_count(), y.node->operand_count());
      for (const Node* node : fused.topological()) {
        EXPECT_TRUE(node == found || has(node->op(), graph::kMovement) ||
                    has(node->op(), graph::kLeaf))
            << graph::print(fused);
      }
      expect_same_results(g, fused, tolerance);
    }
  }
};

TEST_F(FindAgain, Softmax) { expect_found(g.softmax(input("x", {batch, seq, 7}), 1)); }

TEST_F(FindAgain, LayerNorm) {
  expect_found(g.layer_norm(input("x", {batch, seq, 7}), param("s", {7}), param("b", {7}), 1e-5));
}

TEST_F(FindAgain, RmsNorm) {
  expect_found(g.rms_norm(input("x", {batch, seq, 7}), param("s", {7}), 1e-5));
}

TEST_F(FindAgain, NormsOfNarrowFloats) {
  dtype = DType::F16;  // epsilon as exact as the f32 that it becomes
  const Value s = param("s", {7}), b = param("b", {7});
  expect_found(g.rms_norm(input("x", {batch, seq, 7}), s, 0x1p-17), 2e-3);
  expect_found(g.layer_norm(input("x2", {batch, seq, 7}), s, b, 0x1p-17), 4e-3);
  expect_found(g.softmax(input("x3", {batch, seq, 7}), 2), 2e-3);
}

TEST_F(FindAgain, Linears) {
  const Value x = input("x", {batch, seq, 5}), w = param("w", {5, 4});
  const Value rows = input("rows", {batch, seq, 1}), r = input("r", {batch, seq, 4});
  expect_found(g.linear(x, w, param("b", {4}), r, Activation::Silu, rows));
  expect_found(g.linear(x, w, {}, {}, Activation::None, rows));
  expect_found(g.gated_linear(x, w, param("up", {5, 4}), Activation::GeluTanh));
  expect_found(g.gated_linear(x, w, param("up2", {5, 4}), Activation::Silu, rows));
}

TEST_F(FindAgain, Rotary) {
  for (const bool interleaved : {false, true}) {
    for (const int64_t pairs : {2, 3}) {
      g = Graph();
      const Value x = input("x", {batch, seq, 12});
      const Value c = input("c", {seq, pairs}), s = input("s", {seq, pairs});
      expect_found(g.rotary(x, c, s, {.heads = 2, .interleaved = interleaved}));
      const Value cb = input("cb", {batch, seq, pairs}), sb = input("sb", {batch, seq, pairs});
      expect_found(g.rotary(x, cb, sb, {.heads = 2, .interleaved = interleaved}));
    }
  }
}

TEST_F(FindAgain, Attention) {
  const Value q = input("q", {batch, seq, 12}), k = input("k", {batch, seq, 6});
  const Value v = input("v", {batch, seq, 6}), mask = input("mask", {batch, 1, 1, seq});
  using Options = graph::AttentionOptions;
  const Options forms[] = {
      {.heads = 4, .kv_heads = 2},
      {.heads = 4, .kv_heads = 2, .scale = 0.3, .mask = mask},
      {.heads = 4, .kv_heads = 2, .scale = 0.25, .softcap = 0.5},
      {.heads = 4, .kv_heads = 2, .causal = true},
      {.heads = 4, .kv_heads = 2, .causal = true, .window = 2},
      {.heads = 4,
       .kv_heads = 2,
       .scale = 0.25,
       .mask = mask,
       .causal = true,
       .window = 2,
       .softcap = 2},
  };
  for (const Options& options : forms) expect_found(g.attention(q, k, v, options));
  expect_found(g.attention(q, q, q, {.heads = 4, .causal = true}));
}

TEST_F(FindAgain, CausalAttentionOverACache) {
  const Dim keys = seq * 2 + 1;
  const Value q = input("q", {batch, seq, 12}), k = input("k", {batch, keys, 12});
  expect_found(g.attention(q, k, k, {.heads = 3, .causal = true, .window = 3}));
}

}  // namespace
}  // namespace tenon::fuse
