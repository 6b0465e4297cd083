// Importers of quantization, and of matrix products and elementwise ops on quantized numbers.
#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/quantize.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx::importers {
namespace {

// A scale or zero point of a matrix: one for all, or one per row (of a) or column (of b).
Value per_row(Call& call, Value parameter, Value matrix) {
  if (!parameter || parameter.shape().rank() != 1) return parameter;
  if (parameter.shape()[0].is_const(1)) return call.g.reshape(parameter, {});
  if (matrix.shape().rank() < 2) return parameter;
  return call.g.reshape(parameter, {parameter.shape()[0], 1});
}

Value per_column(Call& call, Value parameter) {
  if (!parameter || parameter.shape().rank() != 1) return parameter;
  return parameter.shape()[0].is_const(1) ? call.g.reshape(parameter, {}) : parameter;
}

Value integer_product(Call& call, Value a, Value a_zero, Value b, Value b_zero) {
  return matmul_of(call, without_zero(call, a, per_row(call, a_zero, a)),
                   without_zero(call, b, per_column(call, b_zero)));
}

struct Quantized {
  Value stored, scale, zero;
};

// u8, over all elements of x: the range that holds 0 and all of x goes to 0 .. 255.
Quantized dynamically_quantized(Call& call, Value x) {
  graph::Graph& g = call.g;
  std::vector<int64_t> axes;
  for (int i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  const Value zero = number_like(call, x, 0);
  const auto extreme = [&](Op reduction, Op op) {
    return g.binary(op, axes.empty() ? x : g.reshape(g.reduce(reduction, x, axes), {}), zero);
  };
  const Value high = extreme(Op::ReduceMax, Op::Max), low = extreme(Op::ReduceMin, Op::Min);
  const Value width = g.apply(
      Op::Where, {g.binary(Op::Equal, high, low), number_like(call, x, 1), g.sub(high, low)});
  const Value scale = g.div(width, number_like(call, x, 255));
  const Value point =
      g.unary(Op::Round, clamped(call, g.div(g.unary(Op::Neg, low), scale), 0, 255));
  const Value stored = quantized(call, g.div(x, scale), {.dtype = DType::U8, .zero = point});
  return {stored, scale, g.cast(point, DType::U8)};
}

// Operands first, first + 1, first + 2: stored, scale, zero.
Value real_operand(Call& call, int first) {
  Value stored = call.in(first), zero = call.maybe(first + 2);
  if (zero) zero = spread_parameter(call, zero, stored);
  return dequantized(call, stored, spread_parameter(call, call.in(first + 1), stored), zero);
}

// Operands `scale` and scale + 1 say how to store the result.
Results stored_result(Call& call, Value real, int scale, DType dtype) {
  Value zero = call.maybe(scale + 1);
  if (zero) zero = spread_parameter(call, zero, real);
  Value quotient = call.g.div(real, spread_parameter(call, call.in(scale), real));
  return {quantized(call, quotient, {.dtype = dtype, .zero = zero})};
}

}  // namespace

Results quantize_linear(Call& call) {
  Value x = call.in(0), scale = call.in(1), zero = call.maybe(2);
  const Granularity granularity{call.integer("axis", 1), call.integer("block_size", 0)};
  const bool saturate = call.flag("saturate", true);
  const int64_t precision = call.integer("precision", 0), output = call.integer("output_dtype", 0);
  DType dtype = output != 0 ? dtype_of(output, "attribute 'output_dtype'") : DType::U8;
  if (zero && output != 0 && dtype != zero.dtype()) {
    throw user_error("output_dtype is {} but the zero point {}", to_string(dtype),
                     zero.type().to_string());
  }
  if (zero) dtype = zero.dtype();
  if (dtype == DType::F8E8M0 || info(dtype).bits > 16 || dtype == DType::Bool) {
    throw user_error("cannot quantize to {}", to_string(dtype));
  }
  DType divide_in = precision != 0 ? dtype_of(precision, "attribute 'precision'") : scale.dtype();
  if (is_storage_only(divide_in)) divide_in = DType::F32;
  scale = as(call, spread_parameter(call, scale, x, granularity), divide_in);
  if (zero) zero = spread_parameter(call, zero, x, granularity);
  Value quotient = call.g.div(as(call, x, divide_in), scale);
  return {quantized(call, quotient, {.dtype = dtype, .zero = zero, .saturate = saturate})};
}

Results dequantize_linear(Call& call) {
  Value x = call.in(0), scale = call.in(1), zero = call.maybe(2);
  const Granularity granularity{call.integer("axis", 1), call.integer("block_size", 0)};
  const int64_t output = call.integer("output_dtype", 0);
  const DType dtype = output != 0 ? dtype_of(output, "attribute 'output_dtype'") : scale.dtype();
  scale = spread_parameter(call, scale, x, granularity);
  if (zero) zero = spread_parameter(call, zero, x, granularity);
  return {as(call, dequantized(call, x, scale, zero), dtype)};
}

Results dynamic_quantize_linear(Call& call) {
  const Quantized q = dynamically_quantized(call, call.in(0));
  return {q.stored, q.scale, q.zero};
}

Results matmul_integer(Call& call) {
  return {integer_product(call, call.in(0), call.maybe(2), call.in(1), call.maybe(3))};
}

// The three scales make one factor, in their own dtype; the product with the sum is in f64.
Results qlinear_matmul(Call& call) {
  Value a = call.in(0), b = call.in(3), zero = call.in(7);
  Value sum = integer_product(call, a, call.in(2), b, call.in(5));
  Value factor = call.g.mul(per_row(call, call.in(1), a), per_column(call, call.in(4)));
  factor = call.g.div(factor, per_row(call, call.in(6), a));
  Value real = call.g.mul(call.g.cast(sum, DType::F64), call.g.cast(factor, DType::F64));
  return {quantized(call, real, {.dtype = zero.dtype(), .zero = per_row(call, zero, a)})};
}

Results qlinear_elementwise(Call& call, Op op) {
  Value real = call.g.binary(op, real_operand(call, 0), real_operand(call, 3));
  return stored_result(call, real, 6, call.in(0).dtype());
}

Results qlinear_sigmoid(Call& call) {
  Value real = call.g.unary(Op::Sigmoid, real_operand(call, 0));
  return stored_result(call, real, 3, call.in(0).dtype());
}

Results qlinear_leaky_relu(Call& call) {
  Value x = real_operand(call, 0);
  Value small = call.g.mul(x, number_like(call, x, call.number("alpha", 0.01f)));
  return stored_result(call, where_negative(call, x, small), 3, call.in(0).dtype());
}

Results qlinear_global_average_pool(Call& call) {
  Value x = real_operand(call, 0);
  const int rank = x.shape().rank();
  const bool channels_last = call.flag("channels_last", false);
  std::vector<int64_t> axes;
  for (int i = channels_last ? 1 : 2; i < rank - (channels_last ? 1 : 0); ++i) axes.push_back(i);
  if (axes.empty()) throw user_error("{} has no spatial axes", x.type().to_string());
  return stored_result(call, call.g.reduce(Op::ReduceMean, x, axes), 3, call.in(0).dtype());
}

// Scale and zero point of the result, then three operands for each part.
Results qlinear_concat(Call& call) {
  if (call.inputs() % 3 != 2) throw user_error("it has {} inputs", call.inputs());
  std::vector<Value> parts;
  for (int i = 2; i < call.inputs(); i += 3) parts.push_back(real_operand(call, i));
  const int64_t axis = Call::axis_of(call.integer("axis"), parts[0].shape().rank());
  Value real = parts.size() == 1 ? parts[0] : call.g.concat(std::move(parts), axis);
  return stored_result(call, real, 0, call.in(2).dtype());
}

Results matmul_integer_to_float(Call& call) {
  Value a = call.in(0), b = call.in(1), a_scale = call.in(2), b_scale = call.in(3);
  Value sum = integer_product(call, a, call.maybe(4), b, call.maybe(5));
  Value factor = call.g.mul(per_row(call, a_scale, a), per_column(call, b_scale));
  Value real = call.g.mul(call.g.cast(sum, factor.dtype()), factor);
  return {call.maybe(6) ? call.g.add(real, call.in(6)) : real};
}

Results dynamic_quantize_matmul(Call& call) {
  const Quantized a = dynamically_quantized(call, call.in(0));
  Value b_scale = per_column(call, call.in(2));
  Value sum = integer_product(call, a.stored, a.zero, call.in(1), call.maybe(3));
  Value real = call.g.mul(call.g.cast(sum, DType::F32), call.g.mul(a.scale, b_scale));
  return {call.maybe(4) ? call.g.add(real, call.in(4)) : real};
}

}  // namespace tenon::onnx::importers
