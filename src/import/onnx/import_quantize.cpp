// Importers of quantization, and of matrix products of quantized numbers.
#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/quantize.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx::importers {
namespace {

// Rounded to the dtype, for the steps that follow: that of a value alone does not say so where
// steps are computed together.
Value rounded(Call& call, Value x, DType dtype) { return as(call, as(call, x, dtype), x.dtype()); }

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

// The three scales make one factor, which rounds to their own dtype in each step; the product with
// the sum is in f64.
Results qlinear_matmul(Call& call) {
  Value a = call.in(0), b = call.in(3), zero = call.in(7);
  Value sum = integer_product(call, a, call.in(2), b, call.in(5));
  const DType dtype = call.in(1).dtype();
  const auto scale = [&](int i) { return widened(call, call.in(i)); };
  Value factor = call.g.mul(per_row(call, scale(1), a), per_column(call, scale(4)));
  factor = call.g.div(rounded(call, factor, dtype), per_row(call, scale(6), a));
  Value real = call.g.mul(call.g.cast(sum, DType::F64),
                          call.g.cast(rounded(call, factor, dtype), DType::F64));
  return {quantized(call, real, {.dtype = zero.dtype(), .zero = per_row(call, zero, a)})};
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
