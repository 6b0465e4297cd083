// See bytes.h.
#include "legalize/bytes.h"

#include <algorithm>

namespace tenon::legalize {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

constexpr double kHalf = 128;  // between u8 and i8

bool is_byte(DType dtype) { return dtype == DType::I8 || dtype == DType::U8; }

Value plus(Graph& g, Value zero, double more) {
  const Value added = g.scalar(DType::I32, more);
  return zero ? g.add(zero, added) : added;
}

}  // namespace

Bytes stored_as(Graph& g, const Bytes& bytes, DType dtype) {
  if (bytes.stored.dtype() == dtype) return bytes;
  const double shift = dtype == DType::U8 ? kHalf : -kHalf;
  const Value moved = plus(g, g.cast(bytes.stored, DType::I32), shift);
  return {g.cast(moved, dtype), plus(g, bytes.zero, shift)};
}

namespace {

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

}  // namespace

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

}  // namespace tenon::legalize
