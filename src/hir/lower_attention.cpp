// Attention and what its scores are limited by.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Op;
using graph::Value;

namespace {

constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

// True where causal attention sees a key: bool [queries, keys].
Value limits(Lowering& to, const Dim& queries, const Dim& keys, int64_t window) {
  graph::Graph& g = to.g;
  const Value key = g.reshape(to.positions(keys), {1, keys});
  const Value last =
      g.add(g.reshape(to.positions(queries), {queries, 1}), g.dims({keys - queries}));
  const Value seen = g.binary(Op::LessEqual, key, last);
  if (window == 0) return seen;
  return g.binary(Op::And, seen, g.binary(Op::Less, g.sub(last, g.dims({window})), key));
}

// [batch, heads, length, head_dim] of packed heads; a head of k or v serves a group of queries'.
Value split_heads(graph::Graph& g, Value x, int64_t heads, int64_t head_dim, int64_t group) {
  const Dim &batch = x.shape()[0], &length = x.shape()[1];
  x = g.transpose(g.reshape(x, {batch, length, heads, head_dim}), {0, 2, 1, 3});
  if (group == 1) return x;
  x = g.reshape(x, {batch, heads, 1, length, head_dim});
  x = g.expand(x, {batch, heads, group, length, head_dim});
  return g.reshape(x, {batch, heads * group, length, head_dim});
}

}  // namespace

Value Lowering::attention(Value q, Value k, Value v, const AttentionOptions& options, Value mask) {
  const Dim batch = q.shape()[0], queries = q.shape()[1], keys = k.shape()[1];
  if (options.causal) {
    const Value causal = g.apply(Op::Where, {limits(*this, queries, keys, options.window),
                                             number(0, q), number(kMinusInf, q)});
    mask = mask ? g.add(mask, causal) : causal;
  }
  if (direct() && options.softcap == 0) {
    return g.attention(q, k, v,
                       {.heads = options.heads,
                        .head_dim = options.head_dim,
                        .kv_heads = options.kv_heads,
                        .scale = options.scale,
                        .mask = mask});
  }
  const int64_t group = options.heads / options.kv_heads;
  const Value heads_q = split_heads(g, q, options.heads, options.head_dim, 1);
  const Value heads_k = split_heads(g, k, options.kv_heads, options.head_dim, group);
  const Value heads_v = split_heads(g, v, options.kv_heads, options.head_dim, group);
  Value scores = g.matmul(heads_q, g.transpose(heads_k, {0, 1, 3, 2}));
  scores = g.mul(scores, number(options.scale, q));
  if (options.softcap != 0) {
    const Value cap = number(options.softcap, q);
    scores = g.mul(g.unary(Op::Tanh, g.div(scores, cap)), cap);
  }
  if (mask) scores = g.add(scores, mask);
  const Value context = g.matmul(g.softmax(scores, 3), heads_v);
  return g.reshape(g.transpose(context, {0, 2, 1, 3}),
                   {batch, queries, options.heads * options.head_dim});
}

// Fills in what the options leave open, and makes one addend of mask and bias.
Value attend(Lowering& to, Value q, Value k, Value v, AttentionOptions options) {
  const auto wrong = [&](std::string_view what) {
    return user_error("{}: heads = {}, kv_heads = {}, head_dim = {}, window = {}", what,
                      options.heads, options.kv_heads, options.head_dim, options.window);
  };
  for (const Value& each : {q, k, v}) {
    if (each.shape().rank() != 3)
      throw user_error("q, k and v need three axes: {}", each.type().to_string());
  }
  if (options.heads < 1 || options.kv_heads < 0 || options.head_dim < 0)
    throw wrong("these are not allowed");
  if (options.kv_heads == 0) options.kv_heads = options.heads;
  if (options.heads % options.kv_heads != 0) throw wrong("heads are no multiple of kv_heads");
  if (options.window < 0 || (options.window > 0 && !options.causal))
    throw wrong("a window needs causal attention");
  const Dim& width = q.shape()[2];
  if (options.head_dim == 0 && width.is_const())
    options.head_dim = width.const_value() / options.heads;
  if (options.head_dim == 0) throw wrong("head_dim is needed");
  if (options.scale == 0) options.scale = 1 / std::sqrt(static_cast<double>(options.head_dim));
  Value added = to[options.bias];
  if (const Value mask = to[options.mask]) {
    if (mask.dtype() != DType::Bool)
      throw user_error("the mask must be bool: {}", mask.type().to_string());
    const Value shown = added ? added : to.number(0, q);
    added = to.g.apply(Op::Where, {mask, shown, to.number(kMinusInf, q)});
  }
  return to.attention(q, k, v, options, added);
}

Results lower_block(Lowering& to, const Attention& block) {
  return {attend(to, to[block.q], to[block.k], to[block.v], block.options)};
}

}  // namespace tenon::hir
