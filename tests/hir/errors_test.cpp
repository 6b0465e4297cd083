// What blocks refuse, in whose words; and that the module is then as it was.
#include "tests/hir/model.h"

namespace tenon::hir_test {
namespace {

using graph::error_of;

struct HirErrors : ::testing::Test {
  HirModule m;
  HirValue x = m.input_batch_seq("x", 8);
  HirValue vector = m.param("vector", {{8}, DType::F32});
  HirValue square = m.param("square", {{8, 8}, DType::F32});
  HirValue tall = m.param("tall", {{9, 8}, DType::F32});
  HirValue ids = m.input("ids", {{sym::batch(), sym::seq()}, DType::I64});

  void expect(const std::function<void()>& call, const std::string& message) {
    const std::string before = m.print();
    EXPECT_EQ(error_of(call), "User " + message);
    EXPECT_EQ(m.print(), before);
  }
  // Where the message is that of an op inside: its beginning and its end.
  void expect(const std::function<void()>& call, const std::string& begin, const std::string& end) {
    const std::string before = m.print(), error = error_of(call);
    EXPECT_TRUE(error.starts_with("User " + begin)) << error;
    EXPECT_TRUE(error.ends_with(end)) << error;
    EXPECT_EQ(m.print(), before);
  }
};

TEST_F(HirErrors, NameTheBlockAndShowItsOperands) {
  expect([&] { m.linear(x, tall); }, "[linear] inner extents differ",
         "; in linear(x: f32[batch, seq, 8], w: f32[9, 8])");
  expect([&] { m.swiglu(x, {square, tall, square}); }, "[swiglu] [",
         "; in swiglu(x: f32[batch, seq, 8], gate: f32[8, 8], up: f32[9, 8], down: f32[8, 8], "
         "activation: silu)");
  expect([&] { m.rms_norm(x, tall); }, "[rms_norm] ",
         "; in rms_norm(x: f32[batch, seq, 8], scale: f32[9, 8], epsilon: 1e-05)");
}

TEST_F(HirErrors, ValuesMustBeThereAndOfThisModule) {
  expect([&] { m.linear(x, {}); }, "[linear] w is left out, but needed");
  expect([&] { m.rms_norm_of_sum(x, {}, vector); }, "[rms_norm] residual is left out, but needed");
  HirModule other;
  const HirValue theirs = other.param("w", {{8, 8}, DType::F32});
  expect([&] { m.linear(x, theirs); }, "[linear] w is a value of another module: f32[8, 8]");
  expect([&] { m.op("neg", {theirs}); }, "[op] an operand is a value of another module: f32[8, 8]");
  expect([&] { m.set_outputs({{"y", theirs}}); },
         "[set_outputs] output \"y\" is a value of another module");
  EXPECT_EQ(error_of([] { HirValue().type(); }),
            "User this HirValue is no tensor: it was never given one");
}

TEST_F(HirErrors, ACopyTakesTheValuesThatItHas) {
  HirModule copy = m;
  const HirValue later = m.linear(x, square);
  EXPECT_EQ(error_of([&] { copy.linear(later, square); }),
            "User [linear] x is a value of another module: f32[batch, seq, 8]");
  copy.linear(x, square);
  const HirModule moved = std::move(copy);
  EXPECT_EQ(error_of([&] { copy.print(); }),  // NOLINT(bugprone-use-after-move)
            "User this HirModule was moved from: there is nothing in it");
}

TEST_F(HirErrors, OutputsAreNamedOnce) {
  EXPECT_EQ(error_of([&] { lower_hir(m); }),
            "User [lower_hir] the module has no outputs: call set_outputs before");
  expect([&] { m.set_outputs({}); }, "[set_outputs] a module needs an output");
  expect([&] { m.set_outputs({{"y", {}}}); }, "[set_outputs] output \"y\" is no tensor");
  expect([&] { m.set_outputs({{"y", x}, {"y", x}}); }, "[set_outputs] there are two outputs \"y\"");
}

TEST_F(HirErrors, LeavesAreNamedOnce) {
  expect([&] { m.param("x", {{8}, DType::F32}); }, "[param]", "");
  expect([&] { m.op("nonsense", {x}); }, "there is no op \"nonsense\"; docs/ops.md lists them");
}

TEST_F(HirErrors, SharedLinears) {
  expect([&] { m.shared_linears(x, {}); }, "[shared_linears] there is none",
         "; in shared_linears(x: f32[batch, seq, 8])");
  expect([&] { m.shared_linears(x, {{square, vector}, {square}}); },
         "[shared_linears] some of the linears of one input have a bias, some have none;", "");
  expect([&] { m.shared_linears(x, {{square}, {vector}}); }, "[shared_linears] [", "");
}

TEST_F(HirErrors, Attention) {
  const auto attend = [&](const hir::AttentionOptions& options) {
    return [&, options] { m.attention(x, x, x, options); };
  };
  expect(attend({.heads = 0}), "[attention] heads = 0 is not allowed", "");
  expect(attend({.heads = 4, .kv_heads = 3}), "[attention] 4 heads are no multiple of 3 kv_heads",
         "");
  expect(attend({.window = 2}), "[attention] a window of 2 keys needs causal attention;", "");
  expect(attend({.heads = 4, .head_dim = 3}), "[attention] last extent of q and heads * head_dim",
         "");
  expect(attend({.mask = x}), "[attention] the mask must be bool: f32[batch, seq, 8];", "");
  expect([&] { m.attention(square, x, x, {}); }, "[attention] ",
         "; in attention(q: f32[8, 8], k: f32[batch, seq, 8], v: f32[batch, seq, 8], heads: 1)");
}

TEST_F(HirErrors, Rotary) {
  const auto rotate = [&](const hir::RotaryOptions& options) {
    return [&, options] { m.rotary(x, options); };
  };
  expect(rotate({.heads = 3}), "[rotary] 3 heads do not divide a width of 8;", "");
  expect(rotate({.dim = 3}), "[rotary] dim = 3 is not even, or no part of a head of 8;", "");
  expect(rotate({.dim = 16}), "[rotary] dim = 16 is not even, or no part of a head of 8;", "");
  expect(rotate({.theta = -1}), "[rotary] theta = -1 is not allowed;", "");
  expect(rotate({.positions = x}), "[rotary] positions must be integers [batch, seq]: f32", "");
  expect(rotate({.cos = square}), "[rotary] cos and sin are given together, or both are left out;",
         "");
  expect(rotate({.cos = square, .sin = square}), "[rotary] there are more angles than pairs", "");
  expect(rotate({.positions = ids, .cos = square, .sin = square}),
         "[rotary] cos and sin say which elements turn and how: dim and positions have no use;",
         "");
}

TEST_F(HirErrors, Moe) {
  const HirValue router = m.param("router", {{8, 4}, DType::F32});
  const HirValue experts = m.param("experts", {{4, 8, 8}, DType::F32});
  const HirValue others = m.param("others", {{3, 8, 8}, DType::F32});
  expect([&] { m.moe(x, {router, experts, experts, experts}, {.top_k = 5}); },
         "[moe] top_k = 5 of 4 experts;", "");
  expect([&] { m.moe(x, {router, experts, others, experts}); },
         "[moe] weights of 4 experts must have three axes, theirs first: f32[3, 8, 8];", "");
  expect([&] { m.moe(x, {vector, experts, experts, experts}); },
         "[moe] the router must be [k, experts]: f32[8];", "");
}

TEST_F(HirErrors, DequantizingLinear) {
  const HirValue values = m.param("values", {{8, 4}, DType::I8});
  const HirValue scales = m.param("scales", {{2, 4}, DType::F32});
  const HirValue turned = m.param("turned", {{4, 2}, DType::F32});
  const HirValue zeros = m.param("zeros", {{2, 4}, DType::U8});
  expect([&] { m.dequantizing_linear(x, {square, scales}); },
         "[dequantizing_linear] values must be a matrix of i8, u8, i4 or u4: f32[8, 8];", "");
  expect([&] { m.dequantizing_linear(x, {values, scales, {}, 3}); },
         "[dequantizing_linear] blocks of 3 do not divide 8 rows;", "");
  expect([&] { m.dequantizing_linear(x, {values, turned, {}, 4}); },
         "[dequantizing_linear] scales must have the shape [2, 4]: f32[4, 2];", "");
  expect([&] { m.dequantizing_linear(x, {values, scales, zeros, 4}); },
         "[dequantizing_linear] zero_points have another dtype than values: u8 and i8;", "");
}

TEST_F(HirErrors, DecoderBlock) {
  hir::DecoderWeights weights = {.attention_norm = vector,
                                 .q = {square, vector},
                                 .k = {square},
                                 .v = {square},
                                 .output = {square},
                                 .ffn_norm = vector,
                                 .ffn = {square, square, square}};
  expect([&] { m.decoder_block(x, weights, {}); },
         "[decoder_block] some of the linears of one input have a bias, some have none;", "");
  weights.q = {square};
  expect([&] { m.decoder_block(x, weights, {.attention = {.heads = 3}}); },
         "[decoder_block] 3 heads do not divide a width of 8;", "");
  weights.output = {tall};
  expect([&] { m.decoder_block(x, weights, {}); }, "[decoder_block] [linear] inner extents", "");
}

}  // namespace
}  // namespace tenon::hir_test
