// Whole layers, made of the blocks.
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Value;

Results lower_block(Lowering& to, const EncoderBlock& block) {
  const EncoderWeights& weights = block.weights;
  const bool pre = block.options.pre_norm;
  const auto norm1 = [&](Value x) {
    return to.g.layer_norm(x, to[weights.norm1_scale], to[weights.norm1_bias],
                           block.options.epsilon);
  };
  const auto norm2 = [&](Value x) {
    return to.g.layer_norm(x, to[weights.norm2_scale], to[weights.norm2_bias],
                           block.options.epsilon);
  };
  const auto linear = [&](Value x, const LinearWeights& w, Value residual, ActivationKind kind) {
    return to.g.linear(x, to[w.w], to[w.bias], residual, activation_of(kind));
  };
  const Value x = to[block.x];
  const Results qkv =
      to.linears(pre ? norm1(x) : x, {weights.q, weights.k, weights.v}, ActivationKind::None);
  const Value context = to.attention(qkv[0], qkv[1], qkv[2], block.options.attention);
  const Value attended = linear(context, weights.output, x, ActivationKind::None);
  const Value middle = pre ? attended : norm1(attended);
  const Value inner =
      linear(pre ? norm2(middle) : middle, weights.ffn_in, {}, block.options.activation);
  const Value sum = linear(inner, weights.ffn_out, middle, ActivationKind::None);
  return {pre ? sum : norm2(sum)};
}

Results lower_block(Lowering& to, const DecoderBlock& block) {
  const DecoderWeights& weights = block.weights;
  const AttentionOptions& attention = block.options.attention;
  const auto norm = [&](Value x, const HirValue& scale) {
    return to.g.rms_norm(x, to[scale], block.options.epsilon);
  };
  const auto turned = [&](Value x, int64_t heads) {
    RotaryOptions options = block.options.rotary;
    options.heads = heads;
    return to.rotary(x, options, to.past(attention));
  };
  const int64_t kv_heads = attention.kv_heads == 0 ? attention.heads : attention.kv_heads;
  const Value x = to[block.x];
  const Results qkv = to.linears(norm(x, weights.attention_norm), {weights.q, weights.k, weights.v},
                                 ActivationKind::None);
  const Value context =
      to.attention(turned(qkv[0], attention.heads), turned(qkv[1], kv_heads), qkv[2], attention);
  const Value middle = to.g.linear(context, to[weights.output.w], to[weights.output.bias], x,
                                   graph::Activation::None);
  const Value inner =
      to.g.gated_linear(norm(middle, weights.ffn_norm), to[weights.ffn.gate], to[weights.ffn.up],
                        activation_of(block.options.activation));
  return {to.g.linear(inner, to[weights.ffn.down], {}, middle, graph::Activation::None)};
}

}  // namespace tenon::hir
