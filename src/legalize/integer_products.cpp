// See integer_products.h.
#include "legalize/integer_products.h"

#include "legalize/integer_convolution.h"

namespace tenon::legalize {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

Value with_axes_swapped(Graph& g, Value value, const std::vector<int64_t>& permutation) {
  const bool moves = value && value.shape().rank() == static_cast<int>(permutation.size());
  return moves ? g.transpose(value, permutation) : value;
}

// The right factor, which may lie transposed.
std::optional<Dequantized> dequantized_columns(Graph& g, Value value) {
  if (value.op() != Op::Transpose) return dequantized(value, 2);
  const std::vector<int64_t>& permutation = value.node->attributes().integers("perm");
  if (value.shape().rank() != 2 || permutation[0] != 1) return std::nullopt;
  std::optional<Dequantized> factor = dequantized(value.node->operand(0), 1);
  if (!factor) return factor;
  const auto as_matrix = [&](Value parameter) {  // [depth] or [n, depth], of extent 1 along it
    const bool vector = parameter && parameter.shape().rank() == 1;
    return vector ? g.reshape(parameter, {1, parameter.shape()[0]}) : parameter;
  };
  factor->bytes.stored = g.transpose(factor->bytes.stored, permutation);
  factor->bytes.zero = with_axes_swapped(g, as_matrix(factor->bytes.zero), permutation);
  factor->scale = with_axes_swapped(g, as_matrix(factor->scale), permutation);
  return factor;
}

Value product_of_dequantized(Graph& g, std::span<const Value> operands) {
  const Shape& columns = operands[1].shape();
  const Dim& depth = columns[columns.rank() - 2];
  if (depth.bounds().hi > longest_sum(31)) return {};
  const std::optional<Dequantized> a = dequantized(operands[0], 1);
  if (!a) return {};
  const std::optional<Dequantized> b = dequantized_columns(g, operands[1]);
  if (!b) return {};
  const Value sums = g.cast(integer_product(g, a->bytes, b->bytes), DType::F32);
  return g.mul(sums, g.mul(a->scale, b->scale));
}

Value sums(Graph& g, Value integers, int64_t from_last) {
  return g.reduce(Op::ReduceSum, integers, {integers.shape().rank() - from_last});
}

}  // namespace

Value integer_product(Graph& g, Bytes rows, Bytes columns) {
  rows = stored_as(g, rows, DType::U8), columns = stored_as(g, columns, DType::I8);
  const Value a = g.cast(rows.stored, DType::I32), b = g.cast(columns.stored, DType::I32);
  Value result = g.matmul(a, b);
  if (rows.zero) result = g.sub(result, g.mul(sums(g, b, 2), rows.zero));
  if (!columns.zero) return result;
  Value of_rows = sums(g, a, 1);
  if (rows.zero) {
    const Shape& shape = columns.stored.shape();
    const Dim& depth = shape[shape.rank() - 2];
    const Value count = g.cast(g.dims({depth}, true), DType::I32);
    of_rows = g.sub(of_rows, g.mul(rows.zero, count));
  }
  return g.sub(result, g.mul(of_rows, columns.zero));
}

Graph integer_products(const Graph& graph, bool convolutions) {
  return rebuild(graph, [&](Graph& g, const Node& node, std::span<const Value> operands) {
    std::vector<Value> result;
    const auto replace_by = [&](Value value) {
      if (value) result.push_back(value);
    };
    if (node.op() == Op::Conv) {
      replace_by(integer_convolution(g, node, operands, convolutions));
      return result;
    }
    if (node.op() != Op::MatMul) return result;
    const bool matrices = operands[0].shape().rank() >= 2 && operands[1].shape().rank() >= 2;
    if (!matrices) return result;
    const DType dtype = node.types()[0].dtype;
    if (dtype == DType::I32) {
      const auto rows = bytes_of(operands[0], 1), columns = bytes_of(operands[1], 2);
      if (rows && columns) replace_by(integer_product(g, *rows, *columns));
    } else if (dtype == DType::F32) {
      replace_by(product_of_dequantized(g, operands));
    }
    return result;
  });
}

}  // namespace tenon::legalize
