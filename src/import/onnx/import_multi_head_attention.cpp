// MultiHeadAttention of ONNX Runtime: q, k and v projected already, apart or packed in one of four
// ways, with or without the projections' bias and a cache.
#include "import/onnx/key_mask.h"
#include "import/onnx/ops/transformer.h"

namespace tenon::onnx::importers {
namespace {

// Part `which` of the bias, which has those of q, k and v in a row, as [heads, 1, width].
Value bias_part(Call& call, Value bias, const Qkv& p, int which) {
  const Value parts[] = {p.q, p.k, p.v};
  Dim first = 0;
  for (int i = 0; i < which; ++i) first = first + parts[i].shape()[1] * parts[i].shape()[3];
  const Dim heads = parts[which].shape()[1], width = parts[which].shape()[3];
  Value part = call.g.slice(bias, {first}, {heads * width}, {1});
  return call.g.reshape(part, {heads, 1, width});
}

// [batch, length, heads, n, width]: part `which` of n, heads first.
Value packed_part(Call& call, Value x, int which) {
  const Shape& s = x.shape();
  Value part = call.g.slice(x, {0, 0, 0, which, 0}, {s[0], s[1], s[2], 1, s[4]}, {1, 1, 1, 1, 1});
  return call.g.transpose(call.g.reshape(part, {s[0], s[1], s[2], s[4]}), {0, 2, 1, 3});
}

Qkv unpack(Call& call, int64_t heads) {
  Value q = call.in(0), k = call.maybe(1), v = call.maybe(2);
  const int rank = q.shape().rank(), key_rank = k ? k.shape().rank() : 0;
  if (!k && rank == 5) {
    return {packed_part(call, q, 0), packed_part(call, q, 1), packed_part(call, q, 2)};
  }
  if (!k && rank == 3) {  // [batch, length, 3 * hidden]
    const Dim hidden = quotient({q.shape()[2]}, {3});
    const std::vector<Value> parts = call.g.split(q, 2, {hidden, hidden, hidden});
    return {split_heads(call, parts[0], heads), split_heads(call, parts[1], heads),
            split_heads(call, parts[2], heads)};
  }
  if (rank != 3) throw user_error("a query of type {}", q.type().to_string());
  q = split_heads(call, q, heads);
  if (key_rank == 5 && !v) return {q, packed_part(call, k, 0), packed_part(call, k, 1)};
  if (!v || v.shape().rank() != key_rank || (key_rank != 3 && key_rank != 4)) {
    throw user_error("a key of type {} needs a value like it", k.type().to_string());
  }
  if (key_rank == 4) return {q, k, v};
  return {q, split_heads(call, k, heads), split_heads(call, v, heads)};
}

Qkv add_bias(Call& call, const Qkv& p) {
  Value bias = call.maybe(3);
  if (!bias) return p;
  if (bias.shape().rank() != 1) throw user_error("the bias must have one axis");
  Qkv sum = p;
  sum.q = call.g.add(p.q, bias_part(call, bias, p, 0));
  Value key = call.maybe(1);
  if (key && key.shape().rank() == 4) return sum;  // keys and values had theirs before
  sum.k = call.g.add(p.k, bias_part(call, bias, p, 1));
  sum.v = call.g.add(p.v, bias_part(call, bias, p, 2));
  return sum;
}

}  // namespace

Results multi_head_attention(Call& call) {
  call.reject_input(9, "cache_indirection");
  call.reject_input(8, "past_sequence_length");
  auto [q, k, v] = add_bias(call, unpack(call, call.integer("num_heads")));
  KeyMask mask{.mask = call.maybe(4), .batch = q.shape()[0], .queries = q.shape()[2]};
  Value past_key = call.maybe(6), past_value = call.maybe(7);
  if (!past_key != !past_value) throw user_error("past_key and past_value come together");
  if (past_key) {
    if (past_key.shape().rank() != 4) throw user_error("past_key must have four axes");
    mask.past = past_key.shape()[2];
    k = call.g.concat({past_key, k}, 2);
    v = call.g.concat({past_value, v}, 2);
  }
  mask.keys = k.shape()[2];
  mask.causal = call.flag("unidirectional", false);
  mask.filter = call.number("mask_filter_value", -10000.0);
  Attend a{.q = q, .k = k, .v = v, .scale = call.number("scale", 0)};
  a.bias = key_bias(call, mask, call.maybe(5), q.dtype());
  a.keep_scores = call.wants(3);
  const Attended r = attend(call, a);
  return {join_heads(call, r.result), k, v, r.biased};
}

}  // namespace tenon::onnx::importers
