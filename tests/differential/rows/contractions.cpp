// Rows of contractions: matrix products, linears, attention.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

// Wide ones fill tiles, panels and chunks; others have any extents.
Value left_operand(GraphWriter& w, const std::function<bool(DType)>& wanted) {
  if (w.chance(70)) return w.any(wanted);
  const DType dtype = w.chance(80) ? DType::F32 : w.any_dtype();
  return wanted(dtype) ? w.input(dtype, {w.any_extent(), w.wide_extent()}) : Value();
}

Value product(GraphWriter& w) {
  const Value x = left_operand(w, no_bool);
  if (!x || x.shape().rank() < 2) return {};
  const Dim inner = x.shape()[x.shape().rank() - 1];
  std::vector<Dim> dims{inner, w.chance(60) ? w.any_extent() : w.wide_extent()};
  if (w.chance(30)) {
    dims.insert(dims.begin(), x.shape().begin(), x.shape().end() - 2);
    if (w.chance(30)) dims[0] = x.shape().rank() > 2 ? Dim(1) : dims[0];
  }
  return w.g().matmul(x, w.weight(x.dtype(), std::move(dims)));
}

Value linear_of(GraphWriter& w) {
  const Value x = left_operand(w, real);
  if (!x || x.shape().rank() < 2) return {};
  const Dim inner = x.shape()[x.shape().rank() - 1];
  const Dim columns = w.chance(50) ? w.any_extent() : w.wide_extent();
  const Value by = w.weight(x.dtype(), {inner, columns});
  const Value bias = w.chance(70) ? w.weight(x.dtype(), {columns}) : Value();
  std::vector<Dim> dims = x.shape().dims();
  dims.back() = columns;
  const Value residual = w.chance(30) ? w.input(x.dtype(), std::move(dims)) : Value();
  using graph::Activation;
  const auto kind = w.one_of(std::vector<Activation>{
      Activation::None, Activation::Relu, Activation::Gelu, Activation::GeluTanh, Activation::Silu,
      Activation::Tanh, Activation::Sigmoid});
  return w.g().linear(x, by, bias, residual, kind);
}

Value attention_of(GraphWriter& w) {
  const DType dtype =
      w.one_of(std::vector<DType>{DType::F32, DType::F32, DType::F32, DType::F64, DType::F16});
  const Dim batch = w.any_extent(), queries = w.any_extent();
  const Dim keys = w.chance(50) ? queries : w.any_extent();
  const int64_t groups = w.number(1, 2), kv_heads = w.number(1, 2), heads = groups * kv_heads;
  const int64_t width = w.one_of(Axes{4, 8, 16, 16, 32, 5});
  graph::AttentionOptions options{.heads = heads, .head_dim = width, .kv_heads = kv_heads};
  if (w.chance(30)) options.scale = 0.25;
  if (w.chance(40)) {
    options.mask =
        w.input(dtype, {w.chance(50) ? batch : Dim(1), w.chance(50) ? Dim(heads) : Dim(1),
                        w.chance(50) ? queries : Dim(1), keys});
  }
  return w.g().attention(w.input(dtype, {batch, queries, heads * width}),
                         w.input(dtype, {batch, keys, kv_heads * width}),
                         w.input(dtype, {batch, keys, kv_heads * width}), options);
}

Value linear_attention_of(GraphWriter& w) {
  const DType dtype = w.chance(80) ? DType::F32 : DType::F64;
  const Dim batch = w.any_extent(), time = w.any_extent();
  const Dim key = w.one_of(std::vector<Dim>{2, 4, 16}), value = w.one_of(std::vector<Dim>{3, 16});
  const int64_t states = w.number(1, 2), heads = states * w.number(1, 2);
  const auto operand = [&](const Dim& count, const Dim& steps, const Dim& width) {
    return w.input(dtype, {batch, count, steps, width});
  };
  const Value decay = w.g().unary(Op::Neg, magnitude(w, operand(states, time, key)));
  return w.g().apply_all(Op::LinearAttention,
                         {operand(heads, time, key), bounded(w, operand(states, time, key)),
                          operand(states, time, value), operand(states, key, value), decay,
                          bounded(w, operand(states, time, 1))},
                         {{"delta", w.number(0, 1)}})[w.chance(60) ? 0 : 1];
}

constexpr OpRow kRows[] = {
    {"product", 6, product},
    {"linear", 4, linear_of},
    {"attention", 3, attention_of},
    {"linear_attention", 1, linear_attention_of},
};

}  // namespace

std::span<const OpRow> contraction_rows() { return kRows; }

}  // namespace tenon::differential
