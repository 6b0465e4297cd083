// GroupQueryAttention of ONNX Runtime: causal attention of few key heads over a cache whose rows
// are filled to different lengths. The lengths are data, so the cache is put together by indices.
#include <limits>

#include "import/onnx/cache_format.h"
#include "import/onnx/compute.h"
#include "import/onnx/heads.h"
#include "import/onnx/ops/transformer.h"
#include "import/onnx/rotary.h"

namespace tenon::onnx::importers {
namespace {

constexpr double kMinusInf = -std::numeric_limits<double>::infinity();

Qkv unpack(Call& call) {
  const int64_t heads = call.integer("num_heads"), pairs = call.integer("kv_num_heads");
  if (heads < 1 || pairs < 1 || heads % pairs != 0) {
    throw user_error("{} heads are no multiple of {}", heads, pairs);
  }
  Value q = call.in(0), k = call.maybe(1), v = call.maybe(2);
  if (!k != !v) throw user_error("key and value come together");
  if (k)
    return {split_heads(call, q, heads), split_heads(call, k, pairs), split_heads(call, v, pairs)};
  Value all = split_heads(call, q, heads + 2 * pairs);
  const std::vector<Value> parts = call.g.split(all, 1, {heads, pairs, pairs});
  return {parts[0], parts[1], parts[2]};
}

// How the rows of the cache are filled.
struct Filled {
  Dim batch, queries, buffer;  // buffer: extent of the cache that came in
  Value before = {};           // i32[batch, 1]: keys of earlier steps
  Value places = {};           // i32[keys]: positions of the cache that goes out
};

Filled filled(Call& call, const Qkv& p) {
  graph::Graph& g = call.g;
  Filled f{.batch = p.q.shape()[0], .queries = p.q.shape()[2], .buffer = 0};
  if (Value past = call.maybe(3)) {
    if (past.shape().rank() != 4) throw user_error("past_key must have four axes");
    f.buffer = past.shape()[2];
  }
  Value total = g.reshape(to_i32(call, call.in(6)), {1});
  Value queries = to_i32(call, g.dims({f.queries}));
  Value after = g.reshape(to_i32(call, call.in(5)), {f.batch, 1});  // less one
  Value before = g.sub(g.add(after, g.scalar(DType::I32, 1)), queries);
  Value first = g.binary(Op::Equal, total, queries);  // a prompt: nothing came before
  f.before = g.apply(Op::Where, {first, g.scalar(DType::I32, 0), before});
  f.places = positions(call, g.binary(Op::Max, total, to_i32(call, g.dims({f.buffer}))));
  return f;
}

// Where each place of the cache comes from in [past, fresh]: rows of one tensor [batch * length,
// ..].
Value sources(Call& call, const Filled& f) {
  graph::Graph& g = call.g;
  const auto number = [&](const Dim& dim) { return to_i32(call, g.dims({dim})); };
  Value since = g.sub(f.places, f.before);  // [batch, keys]
  Value last = number(f.queries - 1), zero = g.scalar(DType::I32, 0);
  Value fresh = g.add(g.binary(Op::Max, g.binary(Op::Min, since, last), zero), number(f.buffer));
  Value at = g.apply(Op::Where, {g.binary(Op::Less, since, zero), f.places, fresh});
  Value row = g.reshape(positions(call, f.batch), {f.batch, 1});
  return g.add(at, g.mul(row, number(f.buffer + f.queries)));
}

// The cache with the new keys behind what each row holds, and zeros behind those.
Value present(Call& call, Value past, Value fresh, const Filled& f) {
  graph::Graph& g = call.g;
  const Shape& s = fresh.shape();
  Value all = past ? g.concat({past, fresh}, 2) : fresh;
  all = g.reshape(g.transpose(all, {0, 2, 1, 3}), {s[0] * (f.buffer + f.queries), s[1], s[3]});
  Value rows = g.transpose(g.gather(all, sources(call, f), 0), {0, 2, 1, 3});
  Value since = g.sub(f.places, f.before);
  Value used = g.binary(Op::Less, since, to_i32(call, g.dims({f.queries})));
  used = g.reshape(used, {f.batch, 1, used.shape()[1], 1});
  return g.apply(Op::Where, {used, rows, g.scalar(fresh.dtype(), 0.0)});
}

// q and k by the root of the mean of their squares, head by head.
void normalize(Call& call, Qkv& p) {
  graph::Graph& g = call.g;
  const double epsilon = call.number("qk_norm_epsilon", 1e-6f);
  Value q_weight = call.maybe(14), k_weight = call.maybe(15);
  if (!q_weight != !k_weight) throw user_error("q_norm_weight and k_norm_weight come together");
  if (!q_weight) return;
  const auto normed = [&](Value x, Value weight) {
    if (weight.shape().rank() != 1) throw user_error("a norm {}", weight.type().to_string());
    const DType precise = compute_dtype(x.dtype());
    Value wide = as(call, x, precise);
    Value mean = g.reduce(Op::ReduceMean, g.mul(wide, wide), {3});
    Value root = g.unary(Op::Sqrt, g.add(mean, g.scalar(precise, epsilon)));
    return as(call, g.mul(g.div(wide, root), as(call, weight, precise)), x.dtype());
  };
  p.q = normed(p.q, q_weight);
  p.k = normed(p.k, k_weight);
}

// i32[batch, queries]: the position of each query.
Value query_positions(Call& call, const Filled& f) {
  return call.g.add(positions(call, f.queries), f.before);
}

void rotate(Call& call, Qkv& p, const Filled& f) {
  graph::Graph& g = call.g;
  const bool interleaved = call.flag("rotary_interleaved", false);
  if (!call.flag("do_rotary", false)) return;
  Value ids = call.maybe(9) ? call.in(9) : query_positions(call, f);
  const auto table = [&](int input) {
    Value rows = g.gather(call.in(input), ids, 0);
    const Shape& s = rows.shape();
    if (s.rank() != 3) throw user_error("cos_cache, sin_cache or position_ids has a wrong rank");
    return g.reshape(rows, {s[0], 1, s[1], s[2]});
  };
  Value cosines = table(7), sines = table(8);
  p.q = rotated(call, p.q, cosines, sines, interleaved);
  p.k = rotated(call, p.k, cosines, sines, interleaved);
}

// Keys up to the query's own, and at most `window` of them; all that are filled where nothing is
// causal.
Value reach(Call& call, const Filled& f) {
  graph::Graph& g = call.g;
  const int64_t window = call.integer("local_window_size", -1);
  if (!call.flag("causal", true)) {
    if (window != -1) throw user_error("local_window_size needs causal attention");
    Value end = g.add(f.before, to_i32(call, g.dims({f.queries})));
    return g.binary(Op::Less, f.places, g.reshape(end, {f.batch, 1, 1, 1}));
  }
  Value query = g.reshape(query_positions(call, f), {f.batch, 1, f.queries, 1});
  Value allowed = g.binary(Op::LessEqual, f.places, query);
  if (window <= 0) return allowed;
  Value size = g.scalar(DType::I32, static_cast<double>(std::min<int64_t>(window, 1 << 30)));
  return both(call, allowed, g.binary(Op::Less, g.sub(query, size), f.places));
}

Value sink(Call& call, DType dtype) {
  const bool smooth = call.flag("smooth_softmax", false);
  if (Value given = call.maybe(11)) {
    return call.g.reshape(given, {1, given.shape().elements(), 1, 1});
  }
  return smooth ? call.g.scalar(dtype, 0.0) : Value{};
}

}  // namespace

Results group_query_attention(Call& call) {
  graph::Graph& g = call.g;
  if (call.flag("sliding_window_cache", false)) {
    throw unsupported_error("sliding_window_cache=1 is not supported");
  }
  Value past_key = call.maybe(3), past_value = call.maybe(4);
  if (!past_key != !past_value) throw user_error("past_key and past_value come together");
  Qkv p = unpack(call);
  const DType dtype = p.q.dtype(), precise = promote(dtype, DType::F32);
  const CacheFormat keys = cache_format(call, "k_quant_type", past_key, call.maybe(12));
  const CacheFormat values = cache_format(call, "v_quant_type", past_value, call.maybe(13));
  const Filled f = filled(call, p);
  normalize(call, p);
  rotate(call, p, f);
  Value k = present(call, past_key, keys.store(call, p.k), f);
  Value v = present(call, past_value, values.store(call, p.v), f);
  const auto exact = [&](Value x) { return x && x.dtype() != precise ? g.cast(x, precise) : x; };
  Attend a{.q = exact(p.q), .scale = call.number("scale", 0)};
  a.k = exact(keys.restore(call, k, dtype));
  a.v = exact(values.restore(call, v, dtype));
  a.softcap = call.number("softcap", 0);
  Value allowed = reach(call, f);
  a.bias = bias_of(call, allowed, exact(call.maybe(10)), precise, kMinusInf);
  a.sink = exact(sink(call, dtype));
  a.keep_scores = call.wants(3);
  const int64_t kind = call.integer("qk_output", 0);
  if (kind < 0 || kind > 2) throw user_error("qk_output {} is unknown", kind);
  const Attended r = attend(call, a);
  const auto back = [&](Value x) { return x && x.dtype() != dtype ? g.cast(x, dtype) : x; };
  Value scores = kind == 2 ? r.weights : Value{};
  if (kind == 1 && call.wants(3)) {  // those out of reach are 0
    scores = g.apply(Op::Where, {allowed, r.biased, g.scalar(precise, 0.0)});
  }
  return {back(join_heads(call, r.result)), k, v, back(scores)};
}

}  // namespace tenon::onnx::importers
