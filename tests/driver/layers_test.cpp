// A layer of an encoder and one of a decoder, as models have them and blocks make them, both ways
// down: the numbers of the interpreter, what a run writes, and that weights are made ready once.
#include <gtest/gtest.h>

#include <algorithm>

#include "program/print.h"
#include "tests/hir/layer_weights.h"
#include "tests/hir/model.h"

namespace tenon::graph_test {
namespace {

using graph::Graph;

struct Widths {
  int64_t heads, kv_heads, head_dim, ffn;
  int64_t hidden() const { return heads * head_dim; }
  int64_t kv() const { return kv_heads * head_dim; }
  hir_test::LayerWidths of_weights() const { return {hidden(), kv(), ffn}; }
};
constexpr Widths kSmall = {.heads = 4, .kv_heads = 2, .head_dim = 16, .ffn = 80};
constexpr Widths kSmallEncoder = {.heads = 4, .kv_heads = 4, .head_dim = 16, .ffn = 80};
constexpr Widths kReal = {.heads = 8, .kv_heads = 2, .head_dim = 64, .ffn = 1408};
constexpr Widths kRealHeads = {.heads = 8, .kv_heads = 8, .head_dim = 64, .ffn = 1408};
constexpr Widths kRealEncoder = {.heads = 8, .kv_heads = 8, .head_dim = 64, .ffn = 2048};

// Norms after the residual sums, biases, something added to the scores of each key.
Graph encoder_layer(const Widths& w, FusionPolicy policy) {
  HirModule m;
  const HirValue x = m.input_batch_seq("x", w.hidden());
  const HirValue keys = m.input("keys", {{sym::batch(), 1, 1, sym::seq()}, DType::F32});
  const HirValue y = m.encoder_block(x, encoder_weights(m, w.of_weights()),
                                     {.attention = {.heads = w.heads, .bias = keys}});
  m.set_outputs({{"y", y}});
  return hir_test::lowered(m, policy);
}

// Norms before the blocks, rotary positions, grouped heads, a gate.
Graph decoder_layer(const Widths& w, FusionPolicy policy) {
  HirModule m;
  const HirValue x = m.input_batch_seq("x", w.hidden());
  const HirValue y =
      m.decoder_block(x, decoder_weights(m, w.of_weights()),
                      {.attention = {.heads = w.heads, .kv_heads = w.kv_heads, .causal = true}});
  m.set_outputs({{"y", y}});
  return hir_test::lowered(m, policy);
}

constexpr int64_t kBatch = 2, kLength = 64;
const Extents kExtents = {{"batch", kBatch}, {"seq", kLength}};

program::Program compiled(const Graph& g) {
  return driver::compile(g, {.cpu = detect_cpu(CpuIsa::Avx2), .dump = {}}).program;
}

int64_t bytes_written(const program::Program& program, const program::Step& step) {
  int64_t bytes = 0;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    if (!step.writes[i]) continue;
    const program::ByteRange range = program::byte_range(program, step.buffers[i]);
    bytes += evaluate(range.end - range.begin, kExtents);
  }
  return bytes;
}

// All that the steps of a run write.
int64_t bytes_written(const program::Program& program) {
  int64_t bytes = 0;
  for (const program::Step& step : program.steps) bytes += bytes_written(program, step);
  return bytes;
}

// q, k and v, what attention gives, both residual streams, and what is between the feed-forward's
// linears.
int64_t bytes_needed(const Widths& w) {
  const int64_t row = w.hidden() + 2 * w.kv() + w.hidden() + 2 * w.hidden() + w.ffn;
  return kBatch * kLength * row * 4;
}

void expect_lean(const Graph& g, const Widths& w) {
  const program::Program program = compiled(g);
  EXPECT_LE(bytes_written(program) * 10, bytes_needed(w) * 12)  // 1.2 times
      << program::print(program);
}

bool is_fixed(const program::BufferRef& ref) {
  return ref.kind == program::BufferKind::Param || ref.kind == program::BufferKind::Constant ||
         ref.kind == program::BufferKind::Packed;
}

// Packing, concatenating, scaling: what depends on parameters only, and is written in every run.
// (What is made of constants alone, the tables of angles, depends on the length too.)
int64_t fixed_bytes_written(const program::Program& program) {
  int64_t bytes = 0;
  for (const program::Step& step : program.steps) {
    bool reads_fixed_only = true, reads_weights = false;
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      if (step.writes[i]) continue;
      reads_fixed_only = reads_fixed_only && is_fixed(step.buffers[i]);
      reads_weights = reads_weights || step.buffers[i].kind != program::BufferKind::Constant;
    }
    if (reads_fixed_only && reads_weights) bytes += bytes_written(program, step);
  }
  return bytes;
}

// Panels of weights would be as wide as they are; what is packed here are keys and values.
int64_t scratch_of_weights(const program::Program& program) {
  int64_t bytes = 0;
  for (const program::Step& step : program.steps) {
    if (std::ranges::any_of(step.buffers, is_fixed))
      bytes += evaluate(step.scratch_bytes, kExtents);
  }
  return bytes;
}

// A device that counts the kernels it is asked to run.
class CountedRuns {
 public:
  explicit CountedRuns(const Graph& g)
      : inputs_(random_tensors(g, {{"batch", 2}, {"seq", 7}})),
        program_(runtime::cuda::for_fake_cuda(compiled(g))),
        executor_(
            runtime::Executor::load(program_, runtime::cuda::FakeCuda::stream({.graphs = false}))
                .take()) {
    for (const program::ParamSlot& param : program_->params) {
      const graph::Tensor& t = inputs_.at(param.name);
      executor_->set_param(param.name, t.dtype, t.shape, t.bytes.data()).throw_if_error();
    }
  }
  const program::Program& program() const { return *program_; }

  size_t kernels_of_a_run() {
    std::vector<runtime::IoView> views;
    for (const program::IoSlot& slot : program_->inputs) {
      graph::Tensor& t = inputs_.at(slot.name);
      views.push_back({t.bytes.data(), t.dtype, t.shape, {}});
    }
    const int before = runtime::cuda::FakeCuda::get().launches;
    runtime::run_owned(*executor_, views).take();
    return static_cast<size_t>(runtime::cuda::FakeCuda::get().launches - before);
  }

 private:
  Tensors inputs_;
  std::shared_ptr<const program::Program> program_;
  std::unique_ptr<runtime::Executor> executor_;
};

void expect_ready_weights(const Graph& g) {
  CountedRuns runs(g);
  const program::Program& program = runs.program();
  EXPECT_EQ(fixed_bytes_written(program), 0) << program::print(program);
  EXPECT_EQ(scratch_of_weights(program), 0) << program::print(program);
  ASSERT_FALSE(program.prologue.empty());
  EXPECT_EQ(runs.kernels_of_a_run(), program.prologue.size() + program.steps.size());
  for (int i = 0; i < 3; ++i) EXPECT_EQ(runs.kernels_of_a_run(), program.steps.size());
}

void expect_interpreted(const Graph& g) {
  for (const CpuIsa isa : isas_here()) {
    RunGraph compiled(g, isa);
    for (const Extents& extents :
         {Extents{{"batch", 2}, {"seq", 7}}, Extents{{"batch", 1}, {"seq", 70}}}) {
      const Tensors inputs = random_tensors(g, extents);
      // Weights of up to 1 let the streams grow to hundreds, whose rounding small elements share.
      expect_close(compiled.run(inputs)[0], graph::interpret(g, inputs)[0], 1e-3, text_of(extents));
    }
  }
}

class ModelLayers : public ::testing::TestWithParam<FusionPolicy> {};

TEST_P(ModelLayers, AnEncoderLayerGivesTheNumbersOfTheInterpreter) {
  expect_interpreted(encoder_layer(kSmallEncoder, GetParam()));
}

TEST_P(ModelLayers, ADecoderLayerGivesTheNumbersOfTheInterpreter) {
  expect_interpreted(decoder_layer(kSmall, GetParam()));
}

TEST_P(ModelLayers, AnEncoderLayerWritesLittleBeyondItsResults) {
  expect_lean(encoder_layer(kRealEncoder, GetParam()), kRealEncoder);
}

TEST_P(ModelLayers, ADecoderLayerWritesLittleBeyondItsResults) {
  expect_lean(decoder_layer(kReal, GetParam()), kReal);
  expect_lean(decoder_layer(kRealHeads, GetParam()), kRealHeads);
}

TEST_P(ModelLayers, WeightsAreMadeReadyOnce) {
  expect_ready_weights(encoder_layer(kRealEncoder, GetParam()));
  expect_ready_weights(decoder_layer(kReal, GetParam()));
}

// The limits of the targets are for formulas that no layer has.
TEST_P(ModelLayers, AreNotClipped) {
  for (const Graph& g :
       {encoder_layer(kRealEncoder, GetParam()), decoder_layer(kReal, GetParam())}) {
    driver::Options options{.device = program::DeviceKind::Null, .cpu = cpu_info()};
    const int kernels = driver::compile(g, options).kernels;
    options.fusion_limits = FusionLimits{};
    EXPECT_EQ(driver::compile(g, options).kernels, kernels);
  }
}

INSTANTIATE_TEST_SUITE_P(BothWays, ModelLayers, ::testing::ValuesIn(hir_test::kPolicies),
                         [](const auto& info) {
                           return info.param == FusionPolicy::Direct ? "direct" : "fusable";
                         });

}  // namespace
}  // namespace tenon::graph_test
