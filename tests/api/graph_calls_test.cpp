// Every call that builds a graph, once, with numbers done by hand. All of them are outputs of one
// graph.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tenon/tenon.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

constexpr float kA = 1, kB = -2, kC = 3, kD = 4;  // x = [[a, b], [c, d]]

struct Case {
  std::string name;
  std::function<Value(Graph& g, const Value& x, const Value& twos)> build;
  Floats expected;
};

Floats each(const std::function<float(float)>& of) { return {of(kA), of(kB), of(kC), of(kD)}; }

// (1 / sqrt(mean of squares + epsilon)) of a row.
float of_squares(float p, float q) { return 1 / std::sqrt((p * p + q * q) / 2 + 1e-5f); }

std::vector<Case> elementwise() {
  const auto binary = [](BinaryKind kind) {
    return [kind](Graph& g, const Value& x, const Value& twos) { return g.binary(kind, x, twos); };
  };
  const auto logical = [](BinaryKind kind) {
    return [kind](Graph& g, const Value& x, const Value& twos) {
      const Value low = g.binary(BinaryKind::Less, x, twos);
      return g.binary(kind, low, g.binary(BinaryKind::Equal, x, g.scalar(DType::F32, kA)));
    };
  };
  const auto activation = [](ActivationKind kind) {
    return [kind](Graph& g, const Value& x, const Value&) { return g.activation(kind, x); };
  };
  const auto sigmoid = [](float v) { return 1 / (1 + std::exp(-v)); };
  return {
      {"add", binary(BinaryKind::Add), {3, 0, 5, 6}},
      {"sub", binary(BinaryKind::Sub), {-1, -4, 1, 2}},
      {"mul", binary(BinaryKind::Mul), {2, -4, 6, 8}},
      {"div", binary(BinaryKind::Div), {0.5, -1, 1.5, 2}},
      {"pow", binary(BinaryKind::Pow), {1, 4, 9, 16}},
      {"min", binary(BinaryKind::Min), {1, -2, 2, 2}},
      {"max", binary(BinaryKind::Max), {2, 2, 3, 4}},
      {"equal", binary(BinaryKind::Equal), {0, 0, 0, 0}},
      {"less", binary(BinaryKind::Less), {1, 1, 0, 0}},
      {"less_equal", binary(BinaryKind::LessEqual), {1, 1, 0, 0}},
      {"and", logical(BinaryKind::And), {1, 0, 0, 0}},
      {"or", logical(BinaryKind::Or), {1, 1, 0, 0}},
      {"none", activation(ActivationKind::None), {1, -2, 3, 4}},
      {"relu", activation(ActivationKind::Relu), {1, 0, 3, 4}},
      {"gelu", activation(ActivationKind::Gelu),
       each([](float v) { return v * 0.5f * (1 + std::erf(v / std::sqrt(2.0f))); })},
      {"gelu_tanh", activation(ActivationKind::GeluTanh), each([](float v) {
         return 0.5f * v *
                (1 + std::tanh(std::sqrt(2 / 3.14159265f) * (v + 0.044715f * v * v * v)));
       })},
      {"silu", activation(ActivationKind::Silu), each([&](float v) { return v * sigmoid(v); })},
      {"tanh", activation(ActivationKind::Tanh), each([](float v) { return std::tanh(v); })},
      {"sigmoid", activation(ActivationKind::Sigmoid), each(sigmoid)},
      {"short forms",
       [](Graph& g, const Value& x, const Value& twos) {
         const Value sum = g.sub(g.div(g.mul(x, twos), twos), g.relu(x));  // x - relu(x)
         return g.add(sum, g.sub(g.tanh(x), g.tanh(x)));
       },
       {0, -2, 0, 0}},
      {"sigmoid of silu",
       [](Graph& g, const Value& x, const Value&) { return g.sigmoid(g.silu(x)); },
       each([&](float v) { return sigmoid(v * sigmoid(v)); })},
      {"exp", [](Graph& g, const Value& x, const Value&) { return g.exp(g.neg(x)); },
       each([](float v) { return std::exp(-v); })},
      {"sqrt",
       [](Graph& g, const Value& x, const Value&) { return g.sqrt(g.mul(x, x)); },
       {1, 2, 3, 4}},
      {"cast",
       [](Graph& g, const Value& x, const Value&) { return g.cast(x, DType::I8); },
       {1, -2, 3, 4}},
      {"where",
       [](Graph& g, const Value& x, const Value& twos) {
         return g.where(g.binary(BinaryKind::Less, x, twos), twos, x);
       },
       {2, 2, 3, 4}},
  };
}

std::vector<Case> movement_and_sums() {
  return {
      {"reshape",
       [](Graph& g, const Value& x, const Value&) { return g.reshape(x, {4}); },
       {1, -2, 3, 4}},
      {"transpose",
       [](Graph& g, const Value& x, const Value&) { return g.transpose(x, {1, 0}); },
       {1, 3, -2, 4}},
      {"expand",
       [](Graph& g, const Value&, const Value&) { return g.expand(g.integers({5, 6}), {2, 2}); },
       {5, 6, 5, 6}},
      {"slice",
       [](Graph& g, const Value& x, const Value&) { return g.slice(x, {1, 0}, {1, 2}); },
       {3, 4}},
      {"concat",
       [](Graph& g, const Value& x, const Value& twos) { return g.concat({twos, x}, 1); },
       {2, 2, 1, -2, 2, 2, 3, 4}},
      {"split",
       [](Graph& g, const Value& x, const Value&) { return g.split(x, 1, {1, 1})[1]; },
       {-2, 4}},
      {"gather",
       [](Graph& g, const Value& x, const Value&) { return g.gather(x, g.integers({1, 1, 0})); },
       {3, 4, 3, 4, 1, -2}},
      {"dims",
       [](Graph& g, const Value& x, const Value&) { return g.dims({x.shape()[0], 7}); },
       {2, 7}},
      {"reduce_sum",
       [](Graph& g, const Value& x, const Value&) { return g.reduce_sum(x, {0}); },
       {4, 2}},
      {"reduce_mean",
       [](Graph& g, const Value& x, const Value&) { return g.reduce_mean(x, {1}); },
       {-0.5, 3.5}},
      {"reduce_max",
       [](Graph& g, const Value& x, const Value&) { return g.reduce_max(x, {0, 1}); },
       {4}},
      {"reduce_min",
       [](Graph& g, const Value& x, const Value&) { return g.reduce_min(x, {1}); },
       {-2, 3}},
      {"softmax",
       [](Graph& g, const Value&, const Value& twos) { return g.softmax(twos); },
       {0.5, 0.5, 0.5, 0.5}},
      {"matmul",
       [](Graph& g, const Value& x, const Value& twos) { return g.matmul(x, twos); },
       {-2, -2, 14, 14}},
      {"mm", [](Graph& g, const Value& x, const Value&) { return g.mm(x, x); }, {-5, -10, 15, 10}},
  };
}

std::vector<Case> fused() {
  const auto ones = [](Graph& g) { return g.constant(Floats{1, 1}, {2}); };
  return {
      {"linear",
       [](Graph& g, const Value& x, const Value& twos) {
         const Value bias = g.constant(Floats{3, 1}, {2});
         const Value rows = g.constant(Floats{1, 0.5}, {2, 1});
         return g.linear(x, twos, bias, x, ActivationKind::Relu, rows);
       },  // relu([-2, -2] * 1 + [3, 1]) + [1, -2]; relu([14, 14] * 0.5 + [3, 1]) + [3, 4]
       {2, -2, 13, 12}},
      {"gated_linear",
       [](Graph& g, const Value& x, const Value& twos) {
         return g.gated_linear(x, twos, twos, ActivationKind::Relu);
       },
       {0, 0, 196, 196}},
      {"layer_norm",
       [=](Graph& g, const Value& x, const Value&) {
         return g.layer_norm(x, ones(g), g.constant(Floats{0, 10}, {2}), 1e-12);
       },
       {1, 9, -1, 11}},
      {"rms_norm",
       [=](Graph& g, const Value& x, const Value&) { return g.rms_norm(x, ones(g)); },
       {kA * of_squares(kA, kB), kB * of_squares(kA, kB), kC * of_squares(kC, kD),
        kD * of_squares(kC, kD)}},
      {"rotary",
       [](Graph& g, const Value& x, const Value&) {  // a quarter turn of (a, c) and (b, d)
         const Value cos = g.constant(Floats{0, 0}, {1, 2}), sin = g.constant(Floats{1, 1}, {1, 2});
         return g.rotary(g.reshape(x, {1, 1, 4}), cos, sin, {.heads = 1});
       },
       {-kC, -kD, kA, kB}},
      {"rotary of neighbours",
       [](Graph& g, const Value& x, const Value&) {
         const Value cos = g.constant(Floats{0, 0}, {1, 2}), sin = g.constant(Floats{1, 1}, {1, 2});
         return g.rotary(g.reshape(x, {1, 1, 4}), cos, sin, {.heads = 1, .interleaved = true});
       },
       {-kB, kA, -kD, kC}},
  };
}

// One head of one element: the score of query i and key j is x_i * x_j.
std::vector<Case> attention() {
  const auto with = [](AttentionOptions options) {
    return [options](Graph& g, const Value& x, const Value&) {
      AttentionOptions all = options;
      all.head_dim = 1;
      const Value v = g.reshape(x, {1, 4, 1});
      return g.attention(v, v, v, all);
    };
  };
  const auto softmax = [](const std::function<float(float)>& score) {
    Floats result;
    for (const float q : {kA, kB, kC, kD}) {
      float sum = 0, weighted = 0;
      for (const float k : {kA, kB, kC, kD}) {
        const float weight = std::exp(score(q * k));
        sum += weight;
        weighted += weight * k;
      }
      result.push_back(weighted / sum);
    }
    return result;
  };
  return {
      {"scaled attention", with({.scale = 0.25}), softmax([](float s) { return 0.25f * s; })},
      {"capped attention", with({.scale = 1, .softcap = 2}),
       softmax([](float s) { return 2 * std::tanh(s / 2); })},
      {"attention to itself", with({.causal = true, .window = 1}), {1, -2, 3, 4}},
      {"masked attention",
       [](Graph& g, const Value& x, const Value&) {
         const Value v = g.reshape(x, {1, 4, 1});
         const Value mask = g.constant(Floats{-1e9f, -1e9f, 0, -1e9f}, {1, 1, 1, 4});
         return g.attention(v, v, v, {.head_dim = 1, .kv_heads = 1, .mask = mask});
       },
       {3, 3, 3, 3}},
  };
}

TEST(GraphCalls, GiveWhatTheirNamesSay) {
  Graph g;
  const Value x = g.input("x", {{2, 2}, DType::F32}), twos = g.input("twos", {{2, 2}, DType::F32});
  std::vector<Case> cases;
  for (auto* family : {&elementwise, &movement_and_sums, &fused, &attention})
    for (Case& each : family()) cases.push_back(std::move(each));
  std::vector<Graph::Output> outputs;
  for (const Case& each : cases) outputs.push_back({each.name, each.build(g, x, twos)});
  g.set_outputs(outputs);
  CompiledGraph compiled = Session().compile(g);
  const Floats data = {kA, kB, kC, kD};
  const auto results = compiled.run({{"x", data}, {"twos", Floats(4, 2)}});
  ASSERT_EQ(results.size(), cases.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    ASSERT_EQ(results[i].size(), cases[i].expected.size()) << cases[i].name;
    for (size_t j = 0; j < results[i].size(); ++j)
      EXPECT_NEAR(results[i][j], cases[i].expected[j], 1e-5) << cases[i].name << " " << j;
  }
}

TEST(GraphCalls, NamesOfKindsAreThoseOfOps) {
  EXPECT_EQ(to_string(BinaryKind::LessEqual), "less_equal");
  EXPECT_EQ(to_string(ActivationKind::GeluTanh), "gelu_tanh");
  EXPECT_EQ(to_string(ActivationKind::None), "none");
}

}  // namespace
}  // namespace tenon
