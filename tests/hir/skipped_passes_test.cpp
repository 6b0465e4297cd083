// A fusion pass that does not run leaves its pattern written out, and the report says so.
#include <gtest/gtest.h>

#include <set>

#include "driver/pipeline.h"
#include "tenon/session.h"
#include "tests/hir/layer_weights.h"

namespace tenon::hir_test {
namespace {

// Something for every pass to find: two layers, and activations as exporters write them out.
HirModule all_patterns() {
  HirModule m;
  const HirValue x = m.input_batch_seq("x", 24);
  const HirValue encoded =
      m.encoder_block(x, encoder_weights(m, {24, 24, 40}), {.attention = {.heads = 4}});
  const HirValue decoded = m.decoder_block(encoded, decoder_weights(m, {24, 12, 40}),
                                           {.attention = {.heads = 4, .kv_heads = 2}});
  const auto number = [&](float value) { return m.constant<float>({value}, {1}); };
  const HirValue erf = m.op1("erf", {m.op1("mul", {x, number(0.70710678F)})});
  const HirValue half = m.op1("mul", {x, number(0.5F)});
  const HirValue gelu = m.op1("mul", {half, m.op1("add", {erf, number(1)})});
  const Attributes last = {{"axes", std::vector<int64_t>{2}}};
  const HirValue most = m.op1("reduce_max", {x}, last);
  const HirValue powers = m.op1("exp", {m.op1("sub", {x, most})});
  const HirValue softmax = m.op1("div", {powers, m.op1("reduce_sum", {powers}, last)});
  m.set_outputs({{"y", decoded},
                 {"gelu", gelu},
                 {"silu", m.op1("mul", {x, m.op1("sigmoid", {x})})},
                 {"softmax", softmax}});
  return m;
}

FusionOptions strict(std::vector<std::string> skip) {
  return {.policy = FusionPolicy::Fusable, .assert_clean = true, .skip = std::move(skip)};
}

struct PassRow {
  std::string pass, pattern;
};
const PassRow kPasses[] = {
    {"fuse_gelu", "fused_gelu"},
    {"fuse_silu", "fused_silu"},
    {"fuse_softmax", "fused_softmax"},
    {"fuse_layer_norm", "fused_layer_norm"},
    {"fuse_rms_norm", "fused_rms_norm"},
    {"fuse_rotary", "fused_rotary"},
    {"fuse_attention", "fused_attention"},
    {"fuse_linear", "fused_matmul_residual"},
    {"fuse_gated_linear", "fused_swiglu"},
    {"fold_row_scale", "fused_row_scale"},
    {"fuse_shared_input", "fused_shared_input"},
};

TEST(SkippedPasses, AreAllListedHere) {
  std::set<std::string> listed, there;
  for (const PassRow& row : kPasses) listed.insert(row.pass);
  for (const std::string_view pass : driver::pass_names()) {
    if (pass.starts_with("fuse_") || pass.starts_with("fold_")) there.emplace(pass);
  }
  EXPECT_EQ(listed, there);
}

TEST(SkippedPasses, NoneIsClean) {
  EXPECT_NO_THROW(Session().compile(all_patterns(), {.fusion = strict({})}));
}

TEST(SkippedPasses, EachIsMissed) {
  const HirModule m = all_patterns();
  for (const PassRow& row : kPasses) {
    try {
      Session().compile(m, {.fusion = strict({row.pass})});
      ADD_FAILURE() << row.pass << " was skipped, and the graph is clean";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::Unsupported);
      const std::string text = error.what();
      EXPECT_NE(text.find("missed " + row.pattern), std::string::npos) << row.pass << "\n" << text;
    }
  }
}

}  // namespace
}  // namespace tenon::hir_test
