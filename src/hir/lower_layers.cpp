// Whole layers, made of the blocks.
#include "base/error.h"
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Value;

namespace {

// q, k and v of one input.
Results project(Lowering& to, Value x, const LinearWeights& q, const LinearWeights& k,
                const LinearWeights& v) {
  const Results biases = {to[q.bias], to[k.bias], to[v.bias]};
  if (static_cast<bool>(biases[0]) != static_cast<bool>(biases[1]) ||
      static_cast<bool>(biases[0]) != static_cast<bool>(biases[2]))
    throw user_error("q, k and v have biases, or none of them has");
  return to.linears(x, {to[q.w], to[k.w], to[v.w]}, biases, ActivationKind::None);
}

}  // namespace

Results lower_block(Lowering& to, const EncoderBlock& block) {
  const EncoderWeights& weights = block.weights;
  const bool pre = block.options.pre_norm;
  const auto norm = [&](Value x, const HirValue& scale, const HirValue& bias) {
    return to.layer_norm(x, to[scale], to[bias], block.options.epsilon);
  };
  const auto linear = [&](Value x, const LinearWeights& w, Value residual, ActivationKind kind) {
    return to.linear(x, to[w.w], {to[w.bias], residual, kind});
  };
  const Value x = to[block.x];
  const Value seen = pre ? norm(x, weights.norm1_scale, weights.norm1_bias) : x;
  const Results qkv = project(to, seen, weights.q, weights.k, weights.v);
  const Value context = attend(to, qkv[0], qkv[1], qkv[2], block.options.attention);
  Value middle = linear(context, weights.output, x, ActivationKind::None);
  if (!pre) middle = norm(middle, weights.norm1_scale, weights.norm1_bias);

  const Value read = pre ? norm(middle, weights.norm2_scale, weights.norm2_bias) : middle;
  const Value inner = linear(read, weights.ffn_in, {}, block.options.activation);
  const Value sum = linear(inner, weights.ffn_out, middle, ActivationKind::None);
  return {pre ? sum : norm(sum, weights.norm2_scale, weights.norm2_bias)};
}

Results lower_block(Lowering& to, const DecoderBlock& block) {
  const DecoderWeights& weights = block.weights;
  const AttentionOptions& attention = block.options.attention;
  const Value x = to[block.x];
  const Value seen = to.rms_norm(x, to[weights.attention_norm], block.options.epsilon);
  const Results qkv = project(to, seen, weights.q, weights.k, weights.v);
  const auto rotated = [&](Value value, int64_t heads) {
    RotaryOptions options = block.options.rotary;
    options.heads = heads;
    return rotate(to, value, options);
  };
  const int64_t kv_heads = attention.kv_heads == 0 ? attention.heads : attention.kv_heads;
  const Value q = rotated(qkv[0], attention.heads), k = rotated(qkv[1], kv_heads);
  const Value context = attend(to, q, k, qkv[2], attention);
  const Value middle =
      to.linear(context, to[weights.output.w], {.bias = to[weights.output.bias], .residual = x});

  const Value read = to.rms_norm(middle, to[weights.ffn_norm], block.options.epsilon);
  const Value inner =
      to.gated(read, to[weights.ffn.gate], to[weights.ffn.up], block.options.activation);
  return {to.linear(inner, to[weights.ffn.down], {.residual = middle})};
}

}  // namespace tenon::hir
