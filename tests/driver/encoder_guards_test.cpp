// What guards the speed of an encoder without a clock: how many kernels a layer is, what they
// compute and move, and how large its weights are when they are ready. The numbers follow from the
// layer, by hand:
//
//   kernel            reads                   writes   multiply-adds
//   linear (q, k, v)  h                       3h       3h*h
//   attention         3h, mask                h        2h for each key
//   linear_residual   h, residual h           h        h*h
//   layer_norm        h                       h
//   linear_gelu       h                       f        h*f
//   linear_residual   f, residual h           h        h*f
//   layer_norm        h                       h
//
// of floats for a token: 18h + 2f; the mask is a float for each token. Weights: matrices of 4h*h +
// 2h*f, biases of 3h + h + f + h, two norms with 2h each.
#include <gtest/gtest.h>

#include <set>

#include "program/print.h"
#include "tests/driver/encoder_graph.h"
#include "tests/driver/run_graph.h"

namespace tenon::graph_test {
namespace {

constexpr int64_t kHidden = 64, kInner = 256;  // h and f
constexpr int64_t kMatrices = 4 * kHidden * kHidden + 2 * kHidden * kInner;
constexpr int64_t kVectors = 9 * kHidden + kInner;
constexpr int64_t kBatch = 3, kSeq = 20, kTokens = kBatch * kSeq;
const Extents kExtents = {{"batch", kBatch}, {"seq", kSeq}};

program::Program compiled(int64_t layers, CpuIsa isa, const PrecisionOptions& precision = {}) {
  auto model = std::make_shared<const std::string>(make_encoder::encoder_model({.layers = layers,
                                                                                .hidden = kHidden,
                                                                                .heads = 4,
                                                                                .ffn = kInner,
                                                                                .vocab = 1000,
                                                                                .maxpos = 128}));
  const graph::Graph g = onnx::import_bytes(std::as_bytes(std::span(*model)), model, "encoder");
  return driver::compile(g, {.precision_policy = precision, .cpu = detect_cpu(isa), .dump = {}})
      .program;
}

struct Figures {
  int64_t steps = 0, kernels = 0, flops = 0, bytes = 0, packed = 0;
  Figures operator-(const Figures& other) const {
    return {steps - other.steps, kernels - other.kernels, flops - other.flops, bytes - other.bytes,
            packed - other.packed};
  }
};

Figures figures(const program::Program& program) {
  Figures result{.steps = static_cast<int64_t>(program.steps.size())};
  std::set<int> kernels;
  for (const program::Step& step : program.steps) {
    kernels.insert(step.code);
    result.flops += evaluate(step.flops, kExtents);
    result.bytes += evaluate(step.bytes, kExtents);
  }
  result.kernels = static_cast<int64_t>(kernels.size());
  for (const program::PackedSlot& packed : program.packed) result.packed += packed.bytes;
  return result;
}

TEST(EncoderGuards, ALayerIsSevenKernelsThatMoveWhatTheyMust) {
  for (const CpuIsa isa : isas_here()) {
    const program::Program two = compiled(2, isa), three = compiled(3, isa);
    const Figures layer = figures(three) - figures(two);
    EXPECT_EQ(layer.steps, 7) << program::print(three);
    EXPECT_EQ(layer.kernels, 0) << "the kernels of the layers before";
    EXPECT_EQ(layer.bytes,
              4 * (kTokens * (18 * kHidden + 2 * kInner) + kTokens + kMatrices + kVectors));
    EXPECT_EQ(layer.flops, 2 * kTokens * (kMatrices + 2 * kSeq * kHidden));
    EXPECT_EQ(layer.packed, 4 * kMatrices);
  }
}

// Beside the layers: the sum of three embeddings with its norm, and the mask. The last norm writes
// where the caller wants it, and is a kernel of its own.
TEST(EncoderGuards, AnEncoderOfAnyDepthIsNineKernels) {
  for (const CpuIsa isa : isas_here()) {
    const Figures one = figures(compiled(1, isa)), two = figures(compiled(2, isa));
    EXPECT_EQ(one.steps, 9);
    EXPECT_EQ(two.steps, 16);
    EXPECT_EQ(two.kernels, 9);
  }
}

// Of the table of 1000 words the rows that are looked up; of positions and kinds as much.
TEST(EncoderGuards, EmbeddingsMoveTheRowsThatTheyLookUp) {
  const program::Program program = compiled(1, isas_here().front());
  const auto& step = program.steps[0].kind == "layer_norm" ? program.steps[0] : program.steps[1];
  ASSERT_EQ(step.kind, "layer_norm") << program::print(program);
  const int64_t ids = 2 * 8 * kTokens, norm = 4 * 2 * kHidden, row = 4 * kHidden;
  const int64_t words = kTokens * row, positions = kSeq * row, kinds = 2 * row;
  EXPECT_EQ(evaluate(step.bytes, kExtents), ids + norm + words + positions + kinds + kTokens * row);
}

// Factors that are bf16 are packed as such where the CPU multiplies them; else panels are of f32.
// What the two norms give is read in f32, too, and rounded by a kernel each; what attention and the
// wide linear give is stored as bf16.
TEST(EncoderGuards, WeightsInBf16TakeHalfTheMemory) {
  for (const CpuIsa isa : isas_here()) {
    const PrecisionOptions mixed{PrecisionPolicy::AutoMixed};
    const Figures layer = figures(compiled(3, isa, mixed)) - figures(compiled(2, isa, mixed));
    EXPECT_EQ(layer.steps, 7 + 2);
    const int64_t element = isa == CpuIsa::Avx512 && detect_cpu(isa).bf16 ? 2 : 4;
    EXPECT_EQ(layer.packed, element * kMatrices);
  }
}

// A byte for each weight, and for each column its scale, its sum, and what these are made of. What
// the four linears read is made bytes by a kernel each; sums of products are not stored.
TEST(EncoderGuards, WeightsInInt8TakeAQuarterOfTheMemory) {
  const CpuInfo cpu = detect_cpu(std::nullopt);
  if (!cpu.vnni) GTEST_SKIP() << "this machine has no products of bytes";
  const PrecisionOptions int8{PrecisionPolicy::DynamicInt8};
  const Figures layer = figures(compiled(3, cpu.isa, int8)) - figures(compiled(2, cpu.isa, int8));
  EXPECT_EQ(layer.steps, 7 + 4);
  const int64_t columns = 5 * kHidden + kInner;
  EXPECT_GE(layer.packed, kMatrices);
  EXPECT_LE(layer.packed, kMatrices + 5 * 4 * columns);
}

}  // namespace
}  // namespace tenon::graph_test
