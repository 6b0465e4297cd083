// See dynamic_int8.h.
#include "legalize/dynamic_int8.h"

#include "graph/linear_parts.h"
#include "legalize/integer_products.h"

namespace tenon::legalize {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

constexpr double kMost = 127;
constexpr double kZero = 128;  // of rows, which are u8
// So that a row of zeros is divided by something.
constexpr double kLeastScale = 0x1p-120;
// Sums of so many products fit into an i32.
constexpr int64_t kLongest = (int64_t{1} << 31) / (128 * 128);

struct Quantized {
  Value steps;  // f32, whole numbers from -127 to 127
  Value scale;  // f32, 1 along the axis
};

Quantized quantized(Graph& g, Value x, int64_t axis) {
  const Value largest = g.reduce(Op::ReduceMax, g.unary(Op::Abs, x), {axis});
  const Value scale = g.binary(Op::Max, g.mul(largest, g.scalar(DType::F32, 1 / kMost)),
                               g.scalar(DType::F32, kLeastScale));
  return {g.unary(Op::Round, g.mul(x, g.unary(Op::Reciprocal, scale))), scale};
}

}  // namespace

bool is_quantizable(const Node& node) {
  const Value x = node.operand(0), w = node.operand(1);
  return x.dtype() == DType::F32 && x.shape().rank() >= 2 && w.shape().rank() == 2 &&
         w.shape()[0].is_const() && w.shape()[0].const_value() <= kLongest;
}

Value contraction_by_int8(Graph& g, const Node& node, std::span<const Value> operands) {
  const graph::LinearParts parts = parts_of(node, operands);
  const Quantized x = quantized(g, parts.x, parts.x.shape().rank() - 1);
  const Bytes rows = {g.cast(g.add(x.steps, g.scalar(DType::F32, kZero)), DType::U8),
                      g.scalar(DType::I32, kZero)};
  const auto product = [&](Value weight) {
    const Quantized w = quantized(g, weight, 0);
    const Value product = integer_product(g, rows, {g.cast(w.steps, DType::I8)});
    const Value sums = g.cast(product, DType::F32);
    const Value result = g.mul(g.mul(sums, x.scale), w.scale);
    return parts.row_scale ? g.mul(result, parts.row_scale) : result;
  };
  Value result = product(parts.w);
  if (parts.bias) result = g.add(result, parts.bias);
  result = g.activation(parts.activation, result);
  if (parts.up) result = g.mul(result, product(parts.up));
  return parts.residual ? g.add(result, parts.residual) : result;
}

}  // namespace tenon::legalize
