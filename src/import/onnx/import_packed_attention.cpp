// Attention over the tokens of a batch without its padding, and the ops that take padding away and
// put it back (domain com.microsoft). A token's offset says where it stands in [batch * length];
// those of the padding come after those of the tokens.
#include "import/onnx/compute.h"
#include "import/onnx/heads.h"
#include "import/onnx/key_mask.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx::importers {
namespace {

struct Padding {
  Dim batch, length, tokens;
  Value offsets = {};  // i64[tokens, 1]

  // [tokens, width] as [batch, length, width], zeros between.
  Value restored(Call& call, Value packed) const {
    const Dim width = packed.shape()[1];
    Value all = filled(call, packed.dtype(), 0, {batch * length, width});
    all = call.g.apply(Op::ScatterND, {all, offsets, packed}, {{"reduction", std::string("none")}});
    return call.g.reshape(all, {batch, length, width});
  }
  Value removed(Call& call, Value x) const {
    Value rows = call.g.reshape(x, {batch * length, x.shape()[2]});
    return call.g.gather(rows, call.g.reshape(offsets, {tokens}), 0);
  }
};

Padding padding_of(Call& call, Value packed, Value offsets) {
  if (packed.shape().rank() != 2 || offsets.shape().rank() != 2 || !is_integer(offsets.dtype())) {
    throw user_error("tokens {} with offsets {}", packed.type().to_string(),
                     offsets.type().to_string());
  }
  Padding p{offsets.shape()[0], offsets.shape()[1], packed.shape()[0]};
  Value flat = call.g.reshape(as(call, offsets, DType::I64), {p.batch * p.length});
  p.offsets = call.g.reshape(call.g.slice(flat, {0}, {p.tokens}, {1}), {p.tokens, 1});
  return p;
}

// [batch + 1] sums as the lengths between them.
Value lengths_of(Call& call, Value sums, const Dim& batch) {
  if (sums.shape().rank() != 1) {
    throw user_error("cumulative_sequence_length {} must be a vector", sums.type().to_string());
  }
  graph::Graph& g = call.g;
  return g.sub(g.slice(sums, {1}, {batch}, {1}), g.slice(sums, {0}, {batch}, {1}));
}

// q, k and v [tokens, width].
Results attend_packed(Call& call, const Qkv& packed, Value offsets, Value sums, Value bias) {
  const Padding padding = padding_of(call, packed.q, offsets);
  const int64_t heads = call.integer("num_heads");
  const auto apart = [&](Value x) {
    if (x.shape().rank() != 2) throw user_error("tokens {}", x.type().to_string());
    return split_heads(call, padding.restored(call, x), heads);
  };
  Attend a{.q = apart(packed.q), .k = apart(packed.k), .v = apart(packed.v)};
  a.scale = call.number("scale", 0);
  KeyMask mask{.mask = lengths_of(call, sums, padding.batch), .batch = padding.batch};
  mask.queries = mask.keys = padding.length;
  mask.filter = call.number("mask_filter_value", -10000.0);
  a.bias = key_bias(call, mask, bias, packed.q.dtype());
  return {padding.removed(call, join_heads(call, attend(call, a).result))};
}

// Three parts of the last axis.
Qkv columns(Call& call, Value packed, const std::vector<int64_t>& sizes) {
  const std::vector<Value> parts = call.g.split(packed, 1, {sizes[0], sizes[1], sizes[2]});
  return {parts[0], parts[1], parts[2]};
}

// [tokens, heads, 3, width].
Qkv from_heads(Call& call, Value packed) {
  const Shape& s = packed.shape();
  if (!s[2].is_const(3)) throw user_error("q, k and v packed as {}", packed.type().to_string());
  const auto part = [&](int which) {
    Value x = call.g.slice(packed, {0, 0, which, 0}, {s[0], s[1], 1, s[3]}, {1, 1, 1, 1});
    return call.g.reshape(x, {s[0], s[1] * s[3]});
  };
  return {part(0), part(1), part(2)};
}

}  // namespace

Results packed_attention(Call& call) {
  Value x = call.in(0), weights = call.in(1);
  if (x.shape().rank() != 2 || weights.shape().rank() != 2 || !weights.shape()[1].is_const()) {
    throw user_error("tokens {} and weights {}", x.type().to_string(), weights.type().to_string());
  }
  const int64_t width = weights.shape()[1].const_value();
  const std::vector<int64_t> sizes =
      call.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>(3, width / 3));
  if (sizes.size() != 3 || sizes[0] < 1 || sizes[0] != sizes[1] || sizes[0] > width ||
      width - 2 * sizes[0] != sizes[2]) {
    throw user_error("q, k and v of sizes [{}] from {}", fmt::join(sizes, ", "), width);
  }
  Value projected = call.g.add(call.g.matmul(x, weights), call.in(2));
  return attend_packed(call, columns(call, projected, sizes), call.in(3), call.in(4),
                       call.maybe(5));
}

Results packed_multi_head_attention(Call& call) {
  Value q = call.in(0), bias = call.maybe(3);
  if (!call.maybe(1) && q.shape().rank() != 4) {
    throw user_error("q, k and v packed as {}", q.type().to_string());
  }
  Qkv packed = call.maybe(1) ? Qkv{q, call.in(1), call.in(2)} : from_heads(call, q);
  if (bias) {
    if (bias.shape().rank() != 1) throw user_error("a bias {}", bias.type().to_string());
    Dim first = 0;
    for (Value* part : {&packed.q, &packed.k, &packed.v}) {
      if (part->shape().rank() != 2) throw user_error("tokens {}", part->type().to_string());
      const Dim width = part->shape()[1];
      *part = call.g.add(*part, call.g.slice(bias, {first}, {width}, {1}));
      first = first + width;
    }
  }
  return attend_packed(call, packed, call.in(4), call.in(5), call.maybe(6));
}

Results restore_padding(Call& call) {
  return {padding_of(call, call.in(0), call.in(1)).restored(call, call.in(0))};
}

// How many tokens there are, only the run knows.
Results remove_padding(Call& call) {
  graph::Graph& g = call.g;
  Value x = call.in(0), counts = call.in(1);
  if (x.shape().rank() != 3 || counts.shape().rank() != 1 || !is_integer(counts.dtype())) {
    throw user_error("{} with {} tokens", x.type().to_string(), counts.type().to_string());
  }
  const Dim batch = x.shape()[0], length = x.shape()[1], width = x.shape()[2];
  Value lengths = to_i32(call, g.reshape(counts, {batch, 1}));
  Value real = g.reshape(g.binary(Op::Less, positions(call, length), lengths), {batch * length});
  const auto places = [&](Value condition) {
    Value found = non_zero(g, condition);
    return g.reshape(found, {found.shape()[1]});
  };
  Value kept = places(real), padding = places(g.unary(Op::Not, real));
  Value tokens = g.gather(g.reshape(x, {batch * length, width}), kept, 0);
  Value offsets = g.concat({kept, padding}, 0);
  offsets = to_i32(call, g.reshape(offsets, {batch, length}));
  Value flat = g.reshape(lengths, {batch});
  Value sums = g.apply(Op::CumSum, {flat}, {{"axis", int64_t{0}}});
  sums = g.concat({filled(call, DType::I32, 0, {1}), sums}, 0);
  return {tokens, offsets, sums, g.reduce(Op::ReduceMax, flat, {0})};
}

}  // namespace tenon::onnx::importers
