// A layer of an encoder and one of a decoder, as models have them: the numbers of the interpreter,
// what a run writes, and that weights are made ready once.
#include <gtest/gtest.h>

#include "program/print.h"
#include "tests/driver/run_graph.h"
#include "tests/lower/graph_cases.h"

namespace tenon::graph_test {
namespace {

struct Widths {
  int64_t heads, kv_heads, head_dim, ffn;
  int64_t hidden() const { return heads * head_dim; }
  int64_t kv() const { return kv_heads * head_dim; }
};
constexpr Widths kSmall = {.heads = 4, .kv_heads = 2, .head_dim = 16, .ffn = 80};
constexpr Widths kReal = {.heads = 8, .kv_heads = 2, .head_dim = 64, .ffn = 1408};
constexpr Widths kRealHeads = {.heads = 8, .kv_heads = 8, .head_dim = 64, .ffn = 1408};
constexpr Widths kRealEncoder = {.heads = 8, .kv_heads = 8, .head_dim = 64, .ffn = 2048};

// Norms after the residual sums, biases, a mask.
Graph encoder_layer(const Widths& w) {
  Graph g;
  const int64_t hidden = w.hidden();
  const Value x = in(g, "x", {kB, kS, hidden}), mask = in(g, "mask", {kB, 1, 1, kS});
  const auto linear = [&](const std::string& name, Value from, int64_t columns, Value residual = {},
                          Activation activation = Activation::None) {
    const Value weight = par(g, name, {from.shape()[2], columns});
    return g.linear(from, weight, par(g, name + ".bias", {columns}), residual, activation);
  };
  const auto norm = [&](const std::string& name, Value from) {
    return g.layer_norm(from, par(g, name, {hidden}), par(g, name + ".bias", {hidden}), 1e-5);
  };
  const Value q = linear("q", x, hidden), k = linear("k", x, hidden), v = linear("v", x, hidden);
  const Value attended =
      g.attention(q, k, v, {.heads = w.heads, .head_dim = w.head_dim, .mask = mask});
  const Value middle = norm("norm1", linear("out", attended, hidden, x));
  const Value inner = linear("up", middle, w.ffn, {}, Activation::Gelu);
  g.set_outputs({{"y", norm("norm2", linear("down", inner, hidden, middle))}});
  return g;
}

// Norms before the blocks, rotary positions, grouped heads, a gate.
Graph decoder_layer(const Widths& w) {
  Graph g;
  const int64_t hidden = w.hidden();
  const Value x = in(g, "x", {kB, kS, hidden});
  const Value cos = in(g, "cos", {kS, w.head_dim / 2}), sin = in(g, "sin", {kS, w.head_dim / 2});
  const auto weight = [&](const char* name, int64_t rows, int64_t columns) {
    return par(g, name, {rows, columns});
  };
  const auto linear = [&](Value from, Value by, Value residual = {}) {
    return g.linear(from, by, {}, residual, Activation::None);
  };
  const Value normal = g.rms_norm(x, par(g, "norm1", {hidden}), 1e-6);
  const Value q = linear(normal, weight("q", hidden, hidden));
  const Value k = linear(normal, weight("k", hidden, w.kv()));
  const Value v = linear(normal, weight("v", hidden, w.kv()));
  const graph::AttentionOptions options = {
      .heads = w.heads, .head_dim = w.head_dim, .kv_heads = w.kv_heads, .causal = true};
  const Value attended = g.attention(g.rotary(q, cos, sin, {.heads = w.heads}),
                                     g.rotary(k, cos, sin, {.heads = w.kv_heads}), v, options);
  const Value middle = linear(attended, weight("out", hidden, hidden), x);
  const Value inner =
      g.gated_linear(g.rms_norm(middle, par(g, "norm2", {hidden}), 1e-6),
                     weight("gate", hidden, w.ffn), weight("up", hidden, w.ffn), Activation::Silu);
  g.set_outputs({{"y", linear(inner, weight("down", w.ffn, hidden), middle)}});
  return g;
}

constexpr int64_t kBatch = 2, kLength = 64;

// All that the steps of a run write.
int64_t bytes_written(const program::Program& program) {
  int64_t bytes = 0;
  for (const program::Step& step : program.steps) {
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      if (!step.writes[i]) continue;
      const program::ByteRange range = program::byte_range(program, step.buffers[i]);
      bytes += evaluate(range.end - range.begin, {{"b", kBatch}, {"s", kLength}});
    }
  }
  return bytes;
}

// q, k and v, what attention gives, both residual streams, and what is between the feed-forward's
// linears.
int64_t bytes_needed(const Widths& w) {
  const int64_t row = w.hidden() + 2 * w.kv() + w.hidden() + 2 * w.hidden() + w.ffn;
  return kBatch * kLength * row * 4;
}

void expect_lean(const Graph& g, const Widths& w) {
  const auto compiled = driver::compile(g, {.cpu = detect_cpu(CpuIsa::Avx2), .dump = {}});
  EXPECT_LE(bytes_written(compiled.program) * 10, bytes_needed(w) * 12)  // 1.2 times
      << program::print(compiled.program);
}

// Packing, concatenating, scaling: a run reads what the prologue has made.
void expect_ready_weights(const Graph& g) {
  const auto compiled = driver::compile(g, {.cpu = detect_cpu(CpuIsa::Avx2), .dump = {}});
  const auto is_fixed = [](const program::BufferRef& ref) {
    return ref.kind == program::BufferKind::Param || ref.kind == program::BufferKind::Constant ||
           ref.kind == program::BufferKind::Packed;
  };
  for (const program::Step& step : compiled.program.steps) {
    bool reads_a_value = false;
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      EXPECT_FALSE(step.writes[i] && is_fixed(step.buffers[i])) << step.kind;
      reads_a_value = reads_a_value || (!step.writes[i] && !is_fixed(step.buffers[i]));
    }
    EXPECT_TRUE(reads_a_value) << step.kind << " of " << step.origin;
  }
}

void expect_interpreted(const Graph& g) {
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const Extents& extents : {Extents{{"b", 2}, {"s", 7}}, Extents{{"b", 1}, {"s", 70}}}) {
      const Tensors inputs = random_tensors(g, extents);
      expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 1e-4, text_of(extents));
    }
  }
}

TEST(ModelLayers, AnEncoderLayerGivesTheNumbersOfTheInterpreter) {
  expect_interpreted(encoder_layer(kSmall));
}

TEST(ModelLayers, ADecoderLayerGivesTheNumbersOfTheInterpreter) {
  expect_interpreted(decoder_layer(kSmall));
}

TEST(ModelLayers, AnEncoderLayerWritesLittleBeyondItsResults) {
  expect_lean(encoder_layer(kRealEncoder), kRealEncoder);
}

TEST(ModelLayers, ADecoderLayerWritesLittleBeyondItsResults) {
  expect_lean(decoder_layer(kReal), kReal);
  expect_lean(decoder_layer(kRealHeads), kRealHeads);
}

TEST(ModelLayers, WeightsAreMadeReadyOnce) {
  expect_ready_weights(encoder_layer(kRealEncoder));
  expect_ready_weights(decoder_layer(kReal));
}

// The limits of the targets are for formulas that no layer has.
TEST(ModelLayers, AreNotClipped) {
  for (const Graph& g : {encoder_layer(kRealEncoder), decoder_layer(kReal)}) {
    driver::Options options{.device = program::DeviceKind::Null, .cpu = cpu_info()};
    const int kernels = driver::compile(g, options).kernels;
    options.fusion_limits = FusionLimits{};
    EXPECT_EQ(driver::compile(g, options).kernels, kernels);
  }
}

}  // namespace
}  // namespace tenon::graph_test
