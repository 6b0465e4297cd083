// The layers of transformers: values worked out by hand, what inference and evaluation refuse, and
// empty extents.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

// The one result of an op on these tensors.
Tensor run(const std::vector<Tensor>& tensors,
           const std::function<Value(Graph&, const std::vector<Value>&)>& build) {
  Graph g;
  std::vector<Value> inputs;
  std::map<std::string, Tensor> given;
  for (const Tensor& t : tensors) {
    const std::string name = fmt::format("x{}", inputs.size());
    inputs.push_back(
        g.input(name, {Shape(std::vector<Dim>(t.shape.begin(), t.shape.end())), t.dtype}));
    given[name] = t;
  }
  g.set_outputs({{"y", build(g, inputs)}});
  verify(g);
  return interpret(parse(print(g)), given)[0];
}

TEST(RmsNorm, DividesByTheRootOfTheMeanSquare) {
  const Tensor y =
      run({f32({2, 2}, {1, 7, 3, -4}), f32({2}, {1, 2})},
          [](Graph& g, const std::vector<Value>& in) { return g.rms_norm(in[0], in[1], 0); });
  const double r = std::sqrt(12.5);  // of 9 and 16; of 1 and 49 it is 5
  expect_near(y, {0.2, 2.8, 3 / r, -8 / r});
}

TEST(RmsNorm, AddsEpsilonToTheMeanSquare) {
  const Tensor y =
      run({f32({1, 2}, {0, 4}), f32({2}, {1, 1})},
          [](Graph& g, const std::vector<Value>& in) { return g.rms_norm(in[0], in[1], 8); });
  expect_near(y, {0, 1});  // sqrt(8 + 8)
}

// Two heads of five elements; a quarter turn of the first pair, nothing for the second.
const Tensor kHeads = f32({1, 1, 10}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
const Tensor kCos = f32({1, 2}, {0, 1}), kSin = f32({1, 2}, {1, 0});

TEST(Rotary, TurnsHalvesOfAHeadAndPassesTheRestOn) {
  const Tensor y = run({kHeads, kCos, kSin}, [](Graph& g, const std::vector<Value>& in) {
    return g.rotary(in[0], in[1], in[2], {.heads = 2});
  });
  EXPECT_EQ(numbers(y), (std::vector<double>{-3, 2, 1, 4, 5, -8, 7, 6, 9, 10}));
}

TEST(Rotary, TurnsNeighboursWhereInterleaved) {
  const Tensor y = run({kHeads, kCos, kSin}, [](Graph& g, const std::vector<Value>& in) {
    return g.rotary(in[0], in[1], in[2], {.heads = 2, .interleaved = true});
  });
  EXPECT_EQ(numbers(y), (std::vector<double>{-2, 1, 3, 4, 5, -7, 6, 8, 9, 10}));
}

TEST(Rotary, TakesAnglesOfEachBatch) {
  const Tensor x = f32({2, 1, 2}, {1, 2, 1, 2});
  const Tensor y = run({x, f32({2, 1, 1}, {0, 1}), f32({2, 1, 1}, {1, 0})},
                       [](Graph& g, const std::vector<Value>& in) {
                         return g.rotary(in[0], in[1], in[2], {.heads = 1});
                       });
  EXPECT_EQ(numbers(y), (std::vector<double>{-2, 1, 1, 2}));
}

TEST(GatedLinear, MultipliesTheActivatedGateWithTheOther) {
  const std::vector<Tensor> in{f32({2, 2}, {1, 2, 3, 4}), f32({2, 2}, {1, -1, 1, 0}),
                               f32({2, 2}, {1, 0, 0, 1}), f32({2, 1}, {2, -1})};
  const Tensor plain = run(in, [](Graph& g, const std::vector<Value>& v) {
    return g.gated_linear(v[0], v[1], v[2], Activation::Relu);
  });
  EXPECT_EQ(numbers(plain), (std::vector<double>{3, 0, 21, 0}));  // gate 3 -1 7 -3, up 1 2 3 4
  const Tensor scaled = run(in, [](Graph& g, const std::vector<Value>& v) {
    return g.gated_linear(v[0], v[1], v[2], Activation::Relu, v[3]);
  });
  EXPECT_EQ(numbers(scaled), (std::vector<double>{12, 0, 0, -12}));
}

TEST(Linear, ScalesRowsBeforeTheBias) {
  const Tensor y = run({f32({2, 1}, {1, 2}), f32({1, 2}, {1, 3}), f32({2}, {10, 20}),
                        f32({2, 2}, {100, 200, 300, 400}), f32({2, 1}, {2, -1})},
                       [](Graph& g, const std::vector<Value>& v) {
                         return g.linear(v[0], v[1], v[2], v[3], Activation::None, v[4]);
                       });
  EXPECT_EQ(numbers(y), (std::vector<double>{112, 226, 308, 414}));
}

// Queries of zeros: each key that is seen has the same weight.
Tensor attend(int64_t queries, const std::vector<double>& values, const AttentionOptions& options) {
  const auto keys = static_cast<int64_t>(values.size());
  const Tensor q = f32({1, queries, 1}, std::vector<double>(static_cast<size_t>(queries), 0));
  return run({q, f32({1, keys, 1}, values)}, [&](Graph& g, const std::vector<Value>& in) {
    return g.attention(in[0], in[1], in[1], options);
  });
}

TEST(Attention, CausalSeesKeysUpToItsOwn) {
  EXPECT_EQ(numbers(attend(3, {2, 4, 6}, {.causal = true})), (std::vector<double>{2, 3, 4}));
  // Queries are the last of the keys.
  EXPECT_EQ(numbers(attend(2, {2, 4, 6}, {.causal = true})), (std::vector<double>{3, 4}));
  // Queries before the first key see none.
  EXPECT_EQ(numbers(attend(3, {2, 4}, {.causal = true})), (std::vector<double>{0, 2, 3}));
}

TEST(Attention, WindowLeavesTheLastKeys) {
  EXPECT_EQ(numbers(attend(3, {2, 4, 6}, {.causal = true, .window = 1})),
            (std::vector<double>{2, 4, 6}));
  EXPECT_EQ(numbers(attend(2, {2, 4, 6}, {.causal = true, .window = 2})),
            (std::vector<double>{3, 5}));
}

TEST(Attention, SoftcapBoundsTheScores) {
  const Tensor q = f32({1, 1, 1}, {1}), k = f32({1, 2, 1}, {1000, 0}), v = f32({1, 2, 1}, {1, 0});
  const Tensor y = run({q, k, v}, [](Graph& g, const std::vector<Value>& in) {
    return g.attention(in[0], in[1], in[2], {.softcap = 0.5});
  });
  expect_near(y, {std::exp(0.5) / (std::exp(0.5) + 1)});
}

struct BadLayers : testing::Test {
  Graph g;
  Value input(const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  }
  Value x = input("x", {2, 3, 8}), w = input("w", {8, 4}), angles = input("angles", {3, 2});
};

TEST_F(BadLayers, NameTheOpAndTheShapes) {
  EXPECT_EQ(error_of([&] { g.rms_norm(x, w, 0); }),
            "User [rms_norm] scale must have one axis: f32[2, 3, 8] x f32[8, 4]");
  EXPECT_EQ(error_of([&] { g.rms_norm(x, input("s", {8}), -1); }),
            "User [rms_norm] epsilon is negative: f32[2, 3, 8] x f32[8]");
  EXPECT_EQ(
      error_of([&] { g.rotary(x, angles, angles, {.heads = 3}); }),
      "User [rotary] the last extent of x is no multiple of 3 heads: f32[2, 3, 8] x f32[3, 2] "
      "x f32[3, 2]");
  EXPECT_EQ(error_of([&] { g.rotary(x, angles, angles, {.heads = 4}); }),
            "User [rotary] there are more angles than pairs of elements in a head: f32[2, 3, 8] x "
            "f32[3, 2] x f32[3, 2]");
  EXPECT_EQ(error_of([&] { g.rotary(x, angles, input("sin", {4, 2}), {.heads = 2}); }),
            "User [rotary] lengths of x and of cos and sin differ: f32[2, 3, 8] x f32[3, 2] x "
            "f32[4, 2]");
  EXPECT_EQ(error_of([&] { g.gated_linear(x, w, input("up", {8, 5}), Activation::Silu); }),
            "User [gated_linear] columns of gate and up differ: f32[2, 3, 8] x f32[8, 4] x f32[8, "
            "5]");
  EXPECT_EQ(
      error_of([&] { g.linear(x, w, {}, {}, Activation::None, input("rows", {2, 3, 8})); }),
      "User [linear] last extent of row_scale and 1 differ: f32[2, 3, 8] x f32[8, 4] x f32[2, "
      "3, 8]");
  EXPECT_EQ(
      error_of([&] { g.attention(x, x, x, {.heads = 2, .window = 2}); }),
      "User [attention] a window needs causal attention: f32[2, 3, 8] x f32[2, 3, 8] x f32[2, "
      "3, 8]");
  EXPECT_EQ(error_of([&] { g.attention(x, x, x, {.heads = 2, .softcap = -1}); }),
            "User [attention] softcap is negative: f32[2, 3, 8] x f32[2, 3, 8] x f32[2, 3, 8]");
}

TEST(LinearAttention, NeedsWholeGroupsOfHeads) {
  Graph g;
  const auto input = [&](const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  };
  const Value q = input("q", {1, 3, 4, 2}), k = input("k", {1, 2, 4, 2});
  const Value s = input("s", {1, 2, 2, 2}), rate = input("rate", {1, 2, 4, 1});
  EXPECT_THROW(g.apply_all(Op::LinearAttention, {q, k, k, s, k, rate}, {{"delta", int64_t{0}}}),
               Error);
}

TEST(LinearAttention, OfNoStepsKeepsItsState) {
  Graph g;
  const auto input = [&](const char* name, Shape shape) {
    return g.input(name, {std::move(shape), DType::F32});
  };
  const Value q = input("q", {1, 1, 0, 1}), s = input("s", {1, 1, 1, 1});
  const std::vector<Value> r =
      g.apply_all(Op::LinearAttention, {q, q, q, s, q, q}, {{"delta", int64_t{1}}});
  g.set_outputs({{"y", r[0]}, {"last", r[1]}});
  const float state = 7;
  const auto bytes = std::as_bytes(std::span(&state, 1));
  const std::vector<Tensor> out =
      interpret(g, {{"q", {DType::F32, {1, 1, 0, 1}, {}}},
                    {"s", {DType::F32, {1, 1, 1, 1}, {bytes.begin(), bytes.end()}}}});
  EXPECT_EQ(out[1].bytes, std::vector<std::byte>(bytes.begin(), bytes.end()));
}

}  // namespace
}  // namespace tenon::graph
