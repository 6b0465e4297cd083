// Both ways down end in the same kernels: what a block is directly, the passes find again in its
// primitives, and miss nothing.
#include <set>

#include "kernel/kernel.h"
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

HirValue matrix(HirModule& m, const std::string& name, int64_t k, int64_t n) {
  return m.param(name, {{k, n}, DType::F32});
}
HirValue row(HirModule& m, const std::string& name) { return m.param(name, {{24}, DType::F32}); }

HirValue attention(HirModule& m, const HirValue& x, hir::AttentionOptions options) {
  const int64_t kv = options.kv_heads == 0 ? 24 : 24 / options.heads * options.kv_heads;
  const HirValue k = m.input_batch_seq("k", kv), v = m.input_batch_seq("v", kv);
  return m.attention(x, k, v, options);
}

hir::EncoderWeights encoder_weights(HirModule& m) {
  const auto linear = [&](const std::string& name, int64_t k, int64_t n) {
    return hir::LinearWeights{matrix(m, name, k, n), m.param(name + "_bias", {{n}, DType::F32})};
  };
  return {.q = linear("q", 24, 24),
          .k = linear("k", 24, 24),
          .v = linear("v", 24, 24),
          .output = linear("output", 24, 24),
          .norm1_scale = row(m, "scale1"),
          .norm1_bias = row(m, "bias1"),
          .ffn_in = linear("in", 24, 40),
          .ffn_out = linear("out", 40, 24),
          .norm2_scale = row(m, "scale2"),
          .norm2_bias = row(m, "bias2")};
}

hir::SwiGluWeights swiglu_weights(HirModule& m) {
  return {matrix(m, "gate", 24, 40), matrix(m, "up", 24, 40), matrix(m, "down", 40, 24)};
}

hir::DecoderWeights decoder_weights(HirModule& m) {
  return {.attention_norm = row(m, "attention_norm"),
          .q = {matrix(m, "q", 24, 24)},
          .k = {matrix(m, "k", 24, 12)},
          .v = {matrix(m, "v", 24, 12)},
          .output = {matrix(m, "output", 24, 24)},
          .ffn_norm = row(m, "ffn_norm"),
          .ffn = swiglu_weights(m)};
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
    {"swiglu", [](HirModule& m,
                  const HirValue& x) { return m.swiglu(x, swiglu_weights(m), {.residual = x}); }},
    {"rms_norm", [](HirModule& m, const HirValue& x) { return m.rms_norm(x, row(m, "scale")); }},
    {"layer_norm",
     [](HirModule& m, const HirValue& x) {
       return m.layer_norm_of_sum(x, x, row(m, "scale"), row(m, "bias")).normed;
     }},
    {"rotary", [](HirModule& m, const HirValue& x) { return m.rotary(x, {.heads = 4}); }},
    {"rotary_interleaved",
     [](HirModule& m, const HirValue& x) {
       return m.rotary(x, {.heads = 4, .dim = 4, .interleaved = true});
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
       return m.encoder_block(x, encoder_weights(m), {.attention = {.heads = 4}});
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
       return m.decoder_block(x, decoder_weights(m),
                              {.attention = {.heads = 4, .kv_heads = 2, .causal = true}});
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
