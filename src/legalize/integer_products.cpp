// See integer_products.h.
#include "legalize/integer_products.h"

#include <algorithm>
#include <optional>

namespace tenon::legalize {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

constexpr double kHalf = 128;  // between u8 and i8

bool is_byte(DType dtype) { return dtype == DType::I8 || dtype == DType::U8; }

Value plus(Graph& g, Value zero, double more) {
  const Value added = g.scalar(DType::I32, more);
  return zero ? g.add(zero, added) : added;
}

// The same numbers, stored with the sign that the operand wants.
Bytes stored_as(Graph& g, const Bytes& bytes, DType dtype) {
  if (bytes.stored.dtype() == dtype) return bytes;
  const double shift = dtype == DType::U8 ? kHalf : -kHalf;
  const Value moved = plus(g, g.cast(bytes.stored, DType::I32), shift);
  return {g.cast(moved, dtype), plus(g, bytes.zero, shift)};
}

// i32 zeros, whatever their shape.
bool is_zero(Value value) {
  while (value.op() == Op::Cast || value.op() == Op::Reshape || value.op() == Op::Expand)
    value = value.node->operand(0);
  return value.op() == Op::Constant && is_integer(value.dtype()) &&
         std::ranges::all_of(value.node->bytes(), [](std::byte b) { return b == std::byte{0}; });
}

// Whether a zero point is the same all along the depth, an axis counted from the last one.
bool is_fixed_along(const Shape& shape, int from_last) {
  return shape.rank() < from_last || shape[shape.rank() - from_last].is_const(1);
}

// The bytes of an i32 value, where that is what it is made of.
std::optional<Bytes> bytes_of(Value value, int depth_from_last) {
  Bytes result;
  if (value.op() == Op::Sub) {
    result.zero = value.node->operand(1);
    value = value.node->operand(0);
    if (!is_fixed_along(result.zero.shape(), depth_from_last) ||
        result.zero.shape().rank() > value.shape().rank())
      return std::nullopt;
    if (is_zero(result.zero)) result.zero = {};
  }
  if (value.op() != Op::Cast || !is_byte(value.node->operand(0).dtype())) return std::nullopt;
  result.stored = value.node->operand(0);
  return result;
}

// A factor in f32: bytes times a scale that is the same all along the depth.
struct Dequantized {
  Bytes bytes;
  Value scale;
};

std::optional<Dequantized> dequantized(Value value, int depth_from_last) {
  if (value.op() != Op::Mul) return std::nullopt;
  for (const int integers : {0, 1}) {
    const Value real = value.node->operand(integers), scale = value.node->operand(1 - integers);
    if (real.op() != Op::Cast || real.dtype() != DType::F32 || real.shape() != value.shape())
      continue;
    const Value stored = real.node->operand(0);
    const std::optional<Bytes> bytes =
        is_byte(stored.dtype()) ? Bytes{stored} : bytes_of(stored, depth_from_last);
    if (bytes && is_fixed_along(scale.shape(), depth_from_last)) return Dequantized{*bytes, scale};
  }
  return std::nullopt;
}

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

// The largest difference from a zero point is 255.
constexpr int64_t kLongest = (int64_t{1} << 31) / (255 * 255);

Value product_of_dequantized(Graph& g, std::span<const Value> operands) {
  const Shape& columns = operands[1].shape();
  const Dim& depth = columns[columns.rank() - 2];
  if (depth.bounds().hi > kLongest) return {};
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

Graph integer_products(const Graph& graph) {
  return rebuild(graph, [](Graph& g, const Node& node, std::span<const Value> operands) {
    std::vector<Value> result;
    if (node.op() != Op::MatMul) return result;
    const bool matrices = operands[0].shape().rank() >= 2 && operands[1].shape().rank() >= 2;
    if (!matrices) return result;
    const DType dtype = node.types()[0].dtype;
    if (dtype == DType::I32) {
      const auto rows = bytes_of(operands[0], 1), columns = bytes_of(operands[1], 2);
      if (rows && columns) result.push_back(integer_product(g, *rows, *columns));
    } else if (const Value product =
                   dtype == DType::F32 ? product_of_dequantized(g, operands) : Value{}) {
      result.push_back(product);
    }
    return result;
  });
}

}  // namespace tenon::legalize
