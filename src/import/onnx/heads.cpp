// Attention from primitives, or as the fused op.
#include "import/onnx/heads.h"

#include <cmath>
#include <limits>

#include "import/onnx/compute.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx {
namespace {

constexpr int64_t kMostTable = 1 << 20;  // positions that are a table; more are computed
const std::vector<int64_t> kSwap = {0, 2, 1, 3};

bool swaps(Value x) {
  return x.op() == Op::Transpose && x.node->attributes().integers("perm") == kSwap;
}

double default_scale(int64_t width) { return 1 / std::sqrt(static_cast<double>(width)); }

// The fused op needs one dtype, one constant width, and nothing between the steps.
bool is_plain(const Attend& a) {
  const Shape &q = a.q.shape(), &k = a.k.shape(), &v = a.v.shape();
  if (a.softcap != 0 || a.sink || a.keep_scores) return false;
  if (a.change_scores || a.change_weights) return false;
  if (a.softmax_dtype && *a.softmax_dtype != a.q.dtype()) return false;
  if (a.k.dtype() != a.q.dtype() || a.v.dtype() != a.q.dtype()) return false;
  if (a.q.dtype() != DType::F32 && a.q.dtype() != DType::F64) return false;
  return q[1].is_const() && k[1].is_const() && q[3].is_const() && v[3] == q[3] && v[1] == k[1] &&
         !q[3].is_const(0) && !k[1].is_const(0) && !q[1].is_const(0);
}

Value fused(Call& call, const Attend& a) {
  graph::AttentionOptions options{.heads = a.q.shape()[1].const_value(),
                                  .head_dim = a.q.shape()[3].const_value(),
                                  .kv_heads = a.k.shape()[1].const_value(),
                                  .scale = a.scale,
                                  .mask = a.bias};
  Value joined = call.g.attention(join_heads(call, a.q), join_heads(call, a.k),
                                  join_heads(call, a.v), options);
  return split_heads(call, joined, options.heads);
}

// q and k each get the root of the factor, so that a narrow type does not overflow.
Value product(Call& call, Value q, Value k, double scale) {
  graph::Graph& g = call.g;
  const Dim width = q.shape()[3];
  if (scale == 0 && width.is_const()) scale = default_scale(width.const_value());
  Value root;
  if (scale > 0) root = g.scalar(q.dtype(), std::sqrt(scale));
  if (scale == 0) root = as(call, g.unary(Op::Sqrt, inverse_root(call, width)), q.dtype());
  q = g.mul(q, root ? root : g.scalar(q.dtype(), scale));
  k = g.transpose(k, {0, 1, 3, 2});
  if (root) k = g.mul(k, as(call, root, k.dtype()));
  return g.matmul(q, k);
}

// The definition step by step in narrow types: each step rounds there, as it does where the
// standard's function body is run.
Value softmax(Call& call, Value x) {
  graph::Graph& g = call.g;
  if (size_of(x.dtype()) >= 4) return g.softmax(x, 3);
  Value power = g.unary(Op::Exp, g.sub(x, g.reduce(Op::ReduceMax, x, {3})));
  return g.div(power, g.reduce(Op::ReduceSum, power, {3}));
}

Value softmax_with_sink(Call& call, Value scores, Value sink) {
  graph::Graph& g = call.g;
  if (!sink) return softmax(call, scores);
  std::vector<Dim> dims = scores.shape().dims();
  const std::vector<Dim> kept = dims;
  dims[3] = 1;
  Value all = g.concat({scores, g.expand(sink, dims)}, 3);
  return g.slice(softmax(call, all), {0, 0, 0, 0}, kept, {1, 1, 1, 1});
}

}  // namespace

Value split_heads(Call& call, Value x, int64_t heads) {
  const Shape& shape = x.shape();
  if (shape.rank() != 3) throw user_error("{} must have three axes", x.type().to_string());
  if (heads < 1) throw user_error("attribute 'num_heads' is {}", heads);
  if (shape[2].is_const() && shape[2].const_value() % heads != 0) {
    throw user_error("{} heads do not divide {}", heads, x.type().to_string());
  }
  if (x.op() == Op::Reshape && swaps(x.node->operand(0))) {
    Value split = x.node->operand(0).node->operand(0);
    if (split.shape()[1].is_const(heads)) return split;
  }
  Value split = call.g.reshape(x, {shape[0], shape[1], heads, quotient({shape[2]}, {heads})});
  return call.g.transpose(split, kSwap);
}

Value join_heads(Call& call, Value x) {
  const Shape& shape = x.shape();
  const std::vector<Dim> joined = {shape[0], shape[2], shape[1] * shape[3]};
  if (swaps(x) && x.node->operand(0).op() == Op::Reshape) {
    Value source = x.node->operand(0).node->operand(0);
    if (source.shape().dims() == joined) return source;
  }
  return call.g.reshape(call.g.transpose(x, kSwap), joined);
}

Value inverse_root(Call& call, const Dim& width) {
  graph::Graph& g = call.g;
  if (width.is_const()) {
    return g.scalar(DType::F64, default_scale(width.const_value()));
  }
  const Value wide = g.cast(g.dims({width}, true), DType::F64);
  return g.div(g.scalar(DType::F64, 1), g.unary(Op::Sqrt, wide));
}

Value repeat_heads(Call& call, Value x, const Dim& times) {
  if (times.is_const(1)) return x;
  const Shape& s = x.shape();
  Value apart = call.g.reshape(x, {s[0], s[1], 1, s[2], s[3]});
  Value repeated = call.g.expand(apart, {s[0], s[1], times, s[2], s[3]});
  return call.g.reshape(repeated, {s[0], s[1] * times, s[2], s[3]});
}

Value to_i32(Call& call, Value x) {
  return x.dtype() == DType::I32 ? x : call.g.cast(x, DType::I32);
}

Value positions(Call& call, const Dim& count) {
  const int64_t most = count.bounds().hi;
  if (most > kMostTable) {
    return to_i32(call, iota(call.g, count));
  }
  auto numbers = std::make_shared<std::vector<int32_t>>(static_cast<size_t>(most));
  for (size_t i = 0; i < numbers->size(); ++i) (*numbers)[i] = static_cast<int32_t>(i);
  LoadedTensor table{{{Dim(most)}, DType::I32}, {std::as_bytes(std::span(*numbers)), numbers}};
  return first_rows(call.g, call.shared_leaf(std::move(table), fmt::format("arange_{}", most)),
                    count);
}

Value positions(Call& call, Value count) {
  const auto known = shape_value(count);
  if (known && known->size() == 1) return positions(call, known->front());
  graph::Graph& g = call.g;
  const Value limit = g.cast(to_scalar(g, count, "the length"), DType::I32);
  return range_to(g, g.scalar(DType::I32, 0), limit, g.scalar(DType::I32, 1));
}

Value both(Call& call, Value a, Value b) {
  if (!a || !b) return a ? a : b;
  return call.g.binary(Op::And, a, b);
}

Value lengthened(Call& call, Value mask, const Dim& keys, double fill) {
  const int last = mask.shape().rank() - 1;
  if (last < 0) return mask;
  std::vector<Dim> dims = mask.shape().dims();
  if (prove_equal(dims.back(), keys) == Proof::Yes) return mask;
  dims.back() = keys - dims.back();
  return call.g.concat({mask, call.g.expand(call.g.scalar(mask.dtype(), fill), dims)}, last);
}

Value bias_of(Call& call, Value allowed, Value bias, DType dtype, double filter) {
  graph::Graph& g = call.g;
  if (!allowed) return bias;
  Value mask = g.apply(Op::Where, {allowed, g.scalar(dtype, 0.0), g.scalar(dtype, filter)});
  return bias ? g.add(mask, bias) : mask;
}

Attended attend(Call& call, const Attend& a) {
  graph::Graph& g = call.g;
  if (is_plain(a)) return {.result = fused(call, a)};
  const DType dtype = a.q.dtype(), precise = a.softmax_dtype.value_or(dtype);
  const Dim times = quotient({a.q.shape()[1]}, {a.k.shape()[1]});
  const auto as = [&](Value x, DType to) { return x.dtype() == to ? x : g.cast(x, to); };
  Value v = repeat_heads(call, as(a.v, a.precise_values ? precise : dtype), times);
  Attended r;
  r.product = r.capped = product(call, a.q, repeat_heads(call, a.k, times), a.scale);
  if (a.softcap != 0) {
    Value cap = g.scalar(dtype, a.softcap);
    r.capped = g.mul(g.unary(Op::Tanh, g.div(r.product, cap)), cap);
  }
  r.biased = a.bias ? g.add(r.capped, a.bias) : r.capped;
  Value scores = as(r.biased, precise);
  if (a.change_scores) scores = a.change_scores(scores);
  Value weights = softmax_with_sink(call, scores, a.sink);
  if (a.empty) weights = g.apply(Op::Where, {a.empty, g.scalar(precise, 0.0), weights});
  if (a.change_weights) weights = a.change_weights(weights);
  r.weights = as(weights, dtype);
  r.result = as(g.matmul(a.precise_values ? weights : r.weights, v), dtype);
  return r;
}

}  // namespace tenon::onnx
