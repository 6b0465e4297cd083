// Both ways down end in the same kernels: what a block is directly, the passes find again in its
// primitives, and miss nothing.
#include <set>

#include "kernel/kernel.h"
#include "tests/hir/layer_weights.h"
#include "tests/hir/model.h"

namespace tenon::hir_test {
namespace {

std::multiset<std::string> kernels_of(const graph::Graph& g) {
  std::multiset<std::string> texts;
  driver::compile(
      g, {.cpu = detect_cpu(CpuIsa::Avx2),
          .assert_fusion_clean = true,
          .see_kernel = [&](const auto& kernel) { texts.insert(kernel::canonical_text(kernel)); }});
  return texts;
}

struct PolicyCase {
  std::string name;
  std::function<HirValue(HirModule&, const HirValue& x)> build;  // x is f32 [batch, seq, 24]
};

constexpr LayerWidths kWidths = {.hidden = 24, .kv = 24, .ffn = 40};
constexpr LayerWidths kGrouped = {.hidden = 24, .kv = 12, .ffn = 40};

HirValue row(HirModule& m, const std::string& name) { return vector(m, name, 24); }

HirValue attention(HirModule& m, const HirValue& x, hir::AttentionOptions options) {
  const int64_t kv = options.kv_heads == 0 ? 24 : 24 / options.heads * options.kv_heads;
  const HirValue k = m.input_batch_seq("k", kv), v = m.input_batch_seq("v", kv);
  return m.attention(x, k, v, options);
}

hir::DecoderOptions grouped_heads(const hir::RotaryOptions& rotary = {}) {
  return {.attention = {.heads = 4, .kv_heads = 2, .causal = true}, .rotary = rotary};
}

const PolicyCase kCases[] = {
    {"linear",
     [](HirModule& m, const HirValue& x) {
       return m.linear(x, matrix(m, "w", 24, 24),
                       {.bias = row(m, "bias"), .residual = x, .activation = ActivationKind::Gelu});
     }},
    {"shared_linears",
     [](HirModule& m, const HirValue& x) {
       const auto parts = m.shared_linears(x, {{matrix(m, "a", 24, 24)}, {matrix(m, "b", 24, 24)}});
       return m.op1("sub", {parts[0], parts[1]});
     }},
    {"dequantizing_linear",
     [](HirModule& m, const HirValue& x) {
       const hir::QuantizedWeight w = {.values = m.param("values", {{24, 40}, DType::I8}),
                                       .scales = matrix(m, "scales", 3, 40),
                                       .zero_points = m.param("zeros", {{3, 40}, DType::I8}),
                                       .block = 8};
       return m.dequantizing_linear(
           x, w, {.bias = vector(m, "bias", 40), .activation = ActivationKind::Relu});
     }},
    {"swiglu",
     [](HirModule& m, const HirValue& x) {
       return m.swiglu(x, swiglu_weights(m, kWidths), {.residual = x});
     }},
    {"rms_norm", [](HirModule& m, const HirValue& x) { return m.rms_norm(x, row(m, "scale")); }},
    {"rms_norm_of_sum",
     [](HirModule& m, const HirValue& x) {
       const auto [normed, sum] =
           m.rms_norm_of_sum(x, m.input_batch_seq("residual", 24), row(m, "scale"));
       return m.op1("sub", {normed, sum});
     }},
    {"layer_norm",
     [](HirModule& m, const HirValue& x) {
       return m.layer_norm(x, row(m, "scale"), row(m, "bias"));
     }},
    {"layer_norm_of_sum",
     [](HirModule& m, const HirValue& x) {
       return m.layer_norm_of_sum(x, x, row(m, "scale"), row(m, "bias")).normed;
     }},
    {"rotary", [](HirModule& m, const HirValue& x) { return m.rotary(x, {.heads = 4}); }},
    {"rotary_interleaved",
     [](HirModule& m, const HirValue& x) {
       return m.rotary(x, {.heads = 4, .dim = 4, .interleaved = true});
     }},
    {"rotary_at_positions",
     [](HirModule& m, const HirValue& x) {
       const HirValue positions = m.input("positions", {{sym::batch(), sym::seq()}, DType::I64});
       return m.rotary(x, {.heads = 4, .positions = positions});
     }},
    {"rotary_by_tables",
     [](HirModule& m, const HirValue& x) {
       const HirValue cos = m.input("cos", {{sym::seq(), 3}, DType::F32});
       const HirValue sin = m.input("sin", {{sym::seq(), 3}, DType::F32});
       return m.rotary(x, {.heads = 4, .cos = cos, .sin = sin});
     }},
    {"attention", [](HirModule& m, const HirValue& x) { return attention(m, x, {.heads = 4}); }},
    {"attention_grouped",
     [](HirModule& m, const HirValue& x) { return attention(m, x, {.heads = 4, .kv_heads = 2}); }},
    {"attention_causal",
     [](HirModule& m, const HirValue& x) { return attention(m, x, {.heads = 4, .causal = true}); }},
    {"attention_window",
     [](HirModule& m, const HirValue& x) {
       return attention(m, x, {.heads = 4, .causal = true, .window = 3});
     }},
    {"attention_softcap",
     [](HirModule& m, const HirValue& x) { return attention(m, x, {.heads = 4, .softcap = 5}); }},
    {"attention_mask",
     [](HirModule& m, const HirValue& x) {
       const HirValue mask = m.input("mask", {{sym::batch(), 1, 1, sym::seq()}, DType::Bool});
       return attention(m, x, {.heads = 4, .mask = mask});
     }},
    {"attention_bias_and_causal",
     [](HirModule& m, const HirValue& x) {
       const HirValue bias = m.input("bias", {{4, sym::seq(), sym::seq()}, DType::F32});
       return attention(m, x,
                        {.heads = 4, .kv_heads = 1, .softcap = 5, .causal = true, .bias = bias});
     }},
    {"encoder_block",
     [](HirModule& m, const HirValue& x) {
       return m.encoder_block(x, encoder_weights(m, kWidths), {.attention = {.heads = 4}});
     }},
    {"encoder_block_pre_norm",
     [](HirModule& m, const HirValue& x) {
       return m.encoder_block(x, encoder_weights(m, kWidths),
                              {.attention = {.heads = 4}, .pre_norm = true});
     }},
    {"moe",
     [](HirModule& m, const HirValue& x) {
       const auto experts = [&](const std::string& name, int64_t k, int64_t n) {
         return m.param(name, {{3, k, n}, DType::F32});
       };
       return m.moe(x, {matrix(m, "router", 24, 3), experts("gate", 24, 40), experts("up", 24, 40),
                        experts("down", 40, 24)});
     }},
    {"decoder_block",
     [](HirModule& m, const HirValue& x) {
       return m.decoder_block(x, decoder_weights(m, kGrouped), grouped_heads());
     }},
    {"decoder_block_with_positions",
     [](HirModule& m, const HirValue& x) {
       const HirValue positions = m.input("positions", {{sym::batch(), sym::seq()}, DType::I64});
       return m.decoder_block(x, decoder_weights(m, kGrouped),
                              grouped_heads({.positions = positions}));
     }},
};

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for this name
void PrintTo(const PolicyCase& each, std::ostream* to) { *to << each.name; }

class HirPolicies : public ::testing::TestWithParam<PolicyCase> {};

TEST_P(HirPolicies, GiveTheSameKernels) {
  HirModule m;
  m.set_outputs({{"y", GetParam().build(m, m.input_batch_seq("x", 24))}});
  const auto direct = kernels_of(lowered(m, FusionPolicy::Direct));
  const auto fusable = kernels_of(lowered(m, FusionPolicy::Fusable));
  EXPECT_EQ(direct.size(), fusable.size());
  EXPECT_TRUE(direct == fusable);
}

INSTANTIATE_TEST_SUITE_P(Blocks, HirPolicies, ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::hir_test
