// See dynamic_int8.h.
#include "legalize/dynamic_int8.h"

#include "graph/activation.h"

namespace tenon::legalize {

using graph::Graph;
using graph::Node;
using graph::Op;
using graph::Value;

namespace {

constexpr double kMost = 127;
// So that a row of zeros is divided by something.
constexpr double kLeastScale = 0x1p-120;
// Sums of so many products fit into an i32.
constexpr int64_t kLongest = (int64_t{1} << 31) / (128 * 128);

struct Quantized {
  Value integers;  // i32 of i8: contractions read the bytes
  Value scale;     // f32, 1 along the axis
};

Quantized quantized(Graph& g, Value x, int64_t axis) {
  const Value largest = g.reduce(Op::ReduceMax, g.unary(Op::Abs, x), {axis});
  const Value scale = g.binary(Op::Max, g.mul(largest, g.scalar(DType::F32, 1 / kMost)),
                               g.scalar(DType::F32, kLeastScale));
  const Value integers = g.cast(g.unary(Op::Round, g.div(x, scale)), DType::I8);
  return {g.cast(integers, DType::I32), scale};
}

}  // namespace

bool is_quantizable(const Node& node) {
  const Value x = node.operand(0), w = node.operand(1);
  return x.dtype() == DType::F32 && x.shape().rank() >= 2 && w.shape().rank() == 2 &&
         w.shape()[0].is_const() && w.shape()[0].const_value() <= kLongest;
}

Value contraction_by_int8(Graph& g, const Node& node, std::span<const Value> operands) {
  const auto& attributes = node.attributes();
  const bool has_row_scale = attributes.integer("row_scale", 0) != 0;
  const Quantized x = quantized(g, operands[0], operands[0].shape().rank() - 1);
  const auto product = [&](Value weight) {
    const Quantized w = quantized(g, weight, 0);
    const Value sums = g.cast(g.matmul(x.integers, w.integers), DType::F32);
    const Value result = g.mul(g.mul(sums, x.scale), w.scale);
    return has_row_scale ? g.mul(result, operands.back()) : result;
  };
  Value result = product(operands[1]);
  if (node.op() == Op::MatMul) return result;
  const graph::Activation activation = *graph::parse_activation(attributes.text("activation"));
  if (node.op() == Op::GatedLinear)
    return g.mul(g.activation(activation, result), product(operands[2]));
  size_t next = 2;
  if (attributes.integer("bias", 0) != 0) result = g.add(result, operands[next++]);
  result = g.activation(activation, result);
  return attributes.integer("residual", 0) != 0 ? g.add(result, operands[next]) : result;
}

}  // namespace tenon::legalize
