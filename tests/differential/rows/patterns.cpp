// Rows that write out what the fusion passes find again: gelu, layer norm, attention, linears that
// share their input, an einsum and a group norm as importers write them,
// and the terms that rules of algebra rewrite.
#include <cmath>

#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

Value written_gelu(GraphWriter& w) {
  const Value x = w.any(real);
  if (!x) return x;
  Graph& g = w.g();
  const Value inner = w.chance(50) ? g.div(x, g.scalar(x.dtype(), std::sqrt(2.0)))
                                   : g.mul(x, g.scalar(x.dtype(), std::sqrt(0.5)));
  const Value sum = plus(w, g.unary(Op::Erf, inner), 1);
  const Value half = g.scalar(x.dtype(), 0.5);
  return w.chance(50) ? g.mul(g.mul(x, sum), half) : g.mul(g.mul(x, half), sum);
}

Value written_norm(GraphWriter& w) {
  const Value x = w.any(real);
  if (!x || x.shape().rank() == 0) return {};
  Graph& g = w.g();
  const int64_t last = x.shape().rank() - 1;
  const Value d = g.sub(x, g.reduce(Op::ReduceMean, x, {last}));
  const Value variance = g.reduce(Op::ReduceMean, g.mul(d, d), {last});
  const Value root = g.unary(Op::Sqrt, plus(w, variance, 1e-2));
  const Value normal = w.chance(50) ? g.div(d, root) : g.mul(d, g.unary(Op::Reciprocal, root));
  const Dim columns = x.shape()[static_cast<int>(last)];
  if (w.chance(20)) return normal;
  return g.add(g.mul(normal, w.weight(x.dtype(), {columns})), w.weight(x.dtype(), {columns}));
}

// Groups of channels, each with statistics of its own.
Value written_group_norm(GraphWriter& w) {
  Graph& g = w.g();
  const Dim batch = w.any_extent(), length = w.any_extent();
  const int64_t groups = w.number(1, 3), each = w.number(1, 4);
  const Value x = w.input(DType::F32, {batch, groups * each, length});
  const Value parts = g.reshape(x, {batch, groups, each, length});
  const Value d = g.sub(parts, g.reduce(Op::ReduceMean, parts, {2, 3}));
  const Value variance = g.reduce(Op::ReduceMean, g.mul(d, d), {2, 3});
  const Value normal = g.div(d, g.unary(Op::Sqrt, plus(w, variance, 1e-2)));
  const Value scale = w.weight(DType::F32, {groups * each, 1});
  return g.mul(g.reshape(normal, {batch, groups * each, length}), scale);
}

Value written_attention(GraphWriter& w) {
  Graph& g = w.g();
  const Dim batch = w.any_extent(), queries = w.any_extent(), keys = w.any_extent();
  const int64_t heads = w.number(1, 3), width = w.one_of(Axes{4, 16, 16, 32});
  const auto split = [&](const Dim& length, Axes perm) {
    const Value x = w.input(DType::F32, {batch, length, heads * width});
    return g.transpose(g.reshape(x, {batch, length, heads, width}), std::move(perm));
  };
  Value scores = g.matmul(split(queries, {0, 2, 1, 3}), split(keys, {0, 2, 3, 1}));
  scores = g.mul(scores, g.scalar(DType::F32, 0.25));
  if (w.chance(50)) scores = g.add(scores, w.input(DType::F32, {batch, 1, 1, keys}));
  const Value context = g.matmul(g.softmax(scores, 3), split(keys, {0, 2, 1, 3}));
  return g.reshape(g.transpose(context, {0, 2, 1, 3}), {batch, queries, heads * width});
}

// As q, k and v are made.
Value shared_input(GraphWriter& w) {
  Graph& g = w.g();
  const Dim rows = w.any_extent(), inner = w.wide_extent();
  const Value x = w.input(DType::F32, {rows, inner});
  std::vector<Value> parts;
  for (int64_t i = w.number(2, 3); i > 0; --i) {
    const Dim columns = w.one_of(std::vector<Dim>{3, 16, 32});
    const Value y = g.matmul(x, w.weight(DType::F32, {inner, columns}));
    parts.push_back(g.add(y, w.weight(DType::F32, {columns})));
  }
  return g.concat(std::move(parts), 1);
}

// What the rules of algebra look for. Each is what it says, with and without them.
Value rewritten(GraphWriter& w) {
  const Value x = w.any(is_signed);
  if (!x) return x;
  Graph& g = w.g();
  const Value y = w.beside(x);
  const Value flag = w.input(DType::Bool, {});
  const auto minus = [&](Value value) { return g.unary(Op::Neg, value); };
  const auto number = [&](double value) { return g.scalar(x.dtype(), value); };
  switch (w.number(0, 9)) {
    case 0:
      return g.sub(x, minus(y));
    case 1:
      return g.add(x, minus(y));
    case 2:
      return minus(g.sub(x, y));
    case 3:
      return g.binary(Op::Min, x, g.binary(Op::Max, x, y));
    case 4:
      return g.apply(Op::Where, {g.unary(Op::Not, flag), x, y});
    case 5:
      return g.unary(Op::Abs, minus(x));
    case 6:
      return g.mul(x, number(-1));
    case 7:
      return g.binary(Op::Pow, x, number(2));
    case 8:
      return g.sub(g.add(x, number(0)), number(0));
    default:
      return g.mul(g.sub(x, x), number(3));
  }
}

// bij,bkj->bik, as its importer writes it.
Value einsum(GraphWriter& w) {
  const Value x = w.any_of_rank(3, real);
  if (!x) return x;
  const Value by = w.input(x.dtype(), {x.shape()[0], w.any_extent(), x.shape()[2]});
  const Value product = w.g().matmul(x, w.g().transpose(by, {0, 2, 1}));
  return w.chance(50) ? product : w.g().transpose(product, {0, 2, 1});
}

Value one_hot(GraphWriter& w) {
  Graph& g = w.g();
  const int64_t depth = w.number(1, 9);
  std::vector<Dim> dims = w.any_extents(w.number(0, 2));
  const Value at = indices(w, dims, depth);
  dims.emplace_back(1);
  const Value column = g.reshape(at, std::move(dims));
  Axes classes;
  for (int64_t i = 0; i < depth; ++i) classes.push_back(i);
  const Value hot = g.binary(Op::Equal, g.cast(column, DType::I64), g.integers(classes));
  const DType dtype = w.one_of(std::vector<DType>{DType::F32, DType::I32, DType::F16});
  return g.apply(Op::Where, {hot, w.input(dtype, {}), w.input(dtype, {})});
}

constexpr OpRow kRows[] = {
    {"gelu", 3, written_gelu},
    {"layer_norm", 3, written_norm},
    {"group_norm", 1, written_group_norm},
    {"attention", 2, written_attention},
    {"shared_input", 2, shared_input},
    {"einsum", 2, einsum},
    {"one_hot", 2, one_hot, true},
    {"algebra", 4, rewritten, true},
};

}  // namespace

std::span<const OpRow> pattern_rows() { return kRows; }

}  // namespace tenon::differential
