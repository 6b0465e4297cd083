// MultiHeadAttention of ONNX Runtime and its form for one query: q, k and v projected already,
// apart or packed in one of four ways, with or without the projections' bias and a cache that grows
// or has room.
#include "import/onnx/key_buffer.h"
#include "import/onnx/key_mask.h"
#include "import/onnx/ops/microsoft.h"
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
  if (heads < 1) throw user_error("attribute 'num_heads' is {}", heads);
  Value q = call.in(0), k = call.maybe(1), v = call.maybe(2);
  const int rank = q.shape().rank(), key_rank = k ? k.shape().rank() : 0;
  if (!k && rank == 5) {
    return {packed_part(call, q, 0), packed_part(call, q, 1), packed_part(call, q, 2)};
  }
  if (!k && rank == 3) {  // [batch, length, 3 * hidden]
    if (q.shape()[2].is_const() && q.shape()[2].const_value() % 3 != 0) {
      throw user_error("a query {} without keys is not q, k and v in a row", q.type().to_string());
    }
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

Qkv add_bias(Call& call, const Qkv& p, Value bias) {
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

struct Inputs {
  Value bias, mask, attention_bias, past_key, past_value, past_length;
};

Results attend_with_cache(Call& call, const Inputs& in) {
  graph::Graph& g = call.g;
  auto [q, k, v] = add_bias(call, unpack(call, call.integer("num_heads")), in.bias);
  KeyMask mask{.mask = in.mask, .batch = q.shape()[0], .queries = q.shape()[2]};
  if (!in.past_key != !in.past_value) throw user_error("past_key and past_value come together");
  if (in.past_length && !in.past_key) throw user_error("past_sequence_length without past_key");
  if (in.past_key && (in.past_key.shape().rank() != 4 || in.past_value.shape().rank() != 4)) {
    throw user_error("past_key and past_value must have four axes");
  }
  Attend a{.q = q, .scale = call.number("scale", 0)};
  if (in.past_length) {
    const KeyBuffer buffer = key_buffer(call, in.past_key, in.past_length, k.shape()[2]);
    mask.past_length = buffer.before;
    mask.used = buffer.used(call);
    k = buffer.written(call, in.past_key, k);
    v = buffer.written(call, in.past_value, v);
    a.k = buffer.cleared(call, k);
    a.v = buffer.cleared(call, v);
  } else if (in.past_key) {
    mask.past = in.past_key.shape()[2];
    k = g.concat({in.past_key, k}, 2);
    v = g.concat({in.past_value, v}, 2);
  }
  if (!in.past_length) a.k = k, a.v = v;
  mask.keys = k.shape()[2];
  mask.causal = call.flag("unidirectional", false);
  mask.filter = call.number("mask_filter_value", -10000.0);
  a.bias = key_bias(call, mask, in.attention_bias, q.dtype());
  a.keep_scores = call.wants(3);
  const Attended r = attend(call, a);
  return {join_heads(call, r.result), k, v, r.biased};
}

}  // namespace

Results multi_head_attention(Call& call) {
  call.reject_input(9, "cache_indirection");
  return attend_with_cache(call, {.bias = call.maybe(3),
                                  .mask = call.maybe(4),
                                  .attention_bias = call.maybe(5),
                                  .past_key = call.maybe(6),
                                  .past_value = call.maybe(7),
                                  .past_length = call.maybe(8)});
}

// One query. The length of the past may be given where the cache grows too, and says nothing then.
Results decoder_masked_multi_head_attention(Call& call) {
  call.reject_input(9, "cache_indirection");
  if (Value width = call.maybe(8)) {
    const auto beams = shape_value(width);
    if (!beams || beams->size() != 1 || !beams->front().is_const(1)) {
      throw unsupported_error("a beam_width that is not the constant 1");
    }
  }
  const Value query = call.in(0);
  if (query.shape().rank() == 3 && prove_equal(query.shape()[1], 1) == Proof::No) {
    throw user_error("the query {} must have a length of 1", query.type().to_string());
  }
  call.flag("output_qk", false);  // the output's name says as much
  const bool shares = call.flag("past_present_share_buffer", false);
  if (shares && !call.maybe(7)) throw user_error("past_sequence_length is missing");
  return attend_with_cache(call, {.bias = call.maybe(10),
                                  .mask = call.maybe(3),
                                  .attention_bias = call.maybe(4),
                                  .past_key = call.maybe(5),
                                  .past_value = call.maybe(6),
                                  .past_length = shares ? call.in(7) : Value{}});
}

}  // namespace tenon::onnx::importers
