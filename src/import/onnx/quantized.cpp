// Quantization in primitives. Zero points are added in f32, which holds all integers of up to 16
// bits.
#include "import/onnx/quantized.h"

#include <algorithm>
#include <cmath>

#include "import/onnx/compute.h"

namespace tenon::onnx {
namespace {

// Each element `block` times along the axis, cut to the extent of x.
Value repeated(Call& call, Value parameter, Value x, Granularity granularity) {
  const int axis = static_cast<int>(granularity.axis);
  const std::vector<Dim> dims = parameter.shape().dims();
  const Dim& extent = x.shape()[axis];
  if (granularity.block <= 0) {
    if (prove_equal(dims[static_cast<size_t>(axis)], extent) != Proof::Yes) {
      throw user_error("blocks need the attribute 'block_size': {} for {}",
                       parameter.type().to_string(), x.type().to_string());
    }
    return parameter;
  }
  // A block beyond the extent is as good as one of the extent, and cannot claim memory.
  if (extent.is_const()) {
    granularity.block = std::min(granularity.block, std::max<int64_t>(extent.const_value(), 1));
  }
  std::vector<Dim> split = dims, spread, merged = dims;
  split.insert(split.begin() + axis + 1, 1);
  spread = split;
  spread[static_cast<size_t>(axis) + 1] = granularity.block;
  merged[static_cast<size_t>(axis)] = dims[static_cast<size_t>(axis)] * granularity.block;
  Value whole = call.g.reshape(call.g.expand(call.g.reshape(parameter, split), spread), merged);
  if (prove_equal(merged[static_cast<size_t>(axis)], extent) == Proof::Yes) return whole;
  merged[static_cast<size_t>(axis)] = extent;
  const size_t rank = merged.size();
  return call.g.slice(whole, std::vector<Dim>(rank, 0), merged, std::vector<int64_t>(rank, 1));
}

struct Range {
  double low, high;
};

Range range_of(DType dtype) {
  const int bits = info(dtype).bits;
  if (info(dtype).kind == DTypeKind::Signed) {
    return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  }
  return {0, std::ldexp(1.0, bits) - 1};
}

}  // namespace

Value spread_parameter(Call& call, Value parameter, Value x, Granularity granularity) {
  const int rank = x.shape().rank(), given = parameter.shape().rank();
  if (given == 0) return parameter;
  if (parameter.shape().elements().is_const(1) && given == 1) return call.g.reshape(parameter, {});
  if (given == 1 && rank == 1 && granularity.block == 0) return parameter;
  granularity.axis = Call::axis_of(granularity.axis, rank);
  if (given == 1 && granularity.block == 0) {
    std::vector<Dim> dims(static_cast<size_t>(rank), 1);
    dims[static_cast<size_t>(granularity.axis)] = parameter.shape()[0];
    return call.g.reshape(parameter, std::move(dims));
  }
  if (given != rank) {
    throw user_error("{} does not fit {}", parameter.type().to_string(), x.type().to_string());
  }
  return repeated(call, parameter, x, granularity);
}

Value without_zero(Call& call, Value stored, Value zero) {
  stored = as(call, stored, DType::I32);
  return zero ? call.g.sub(stored, as(call, zero, DType::I32)) : stored;
}

Value dequantized(Call& call, Value stored, Value scale, Value zero) {
  Value difference;
  if (is_float(stored.dtype())) {
    difference = as(call, stored, DType::F32);
    if (zero) difference = call.g.sub(difference, as(call, zero, DType::F32));
  } else {
    difference = as(call, without_zero(call, stored, zero), DType::F32);
  }
  return call.g.mul(difference, as(call, scale, DType::F32));
}

Value quantized(Call& call, Value quotient, const Target& target) {
  graph::Graph& g = call.g;
  const bool is_code = is_float(target.dtype);
  Value result = is_code ? quotient : g.unary(Op::Round, quotient);
  if (result.dtype() != DType::F64) result = as(call, result, DType::F32);
  if (target.zero) result = g.add(result, as(call, target.zero, result.dtype()));
  if (is_code) {
    graph::Attributes attributes{{"dtype", target.dtype}};
    if (!target.saturate) attributes.set("saturate", int64_t{0});
    return g.apply(Op::Cast, {result}, std::move(attributes));
  }
  const Range range = range_of(target.dtype);
  return g.cast(clamped(call, result, range.low, range.high), target.dtype);
}

Value matmul_of(Call& call, Value a, Value b) {
  const bool row = a.shape().rank() == 1, column = b.shape().rank() == 1;
  if (row) a = call.g.reshape(a, {1, a.shape()[0]});
  if (column) b = call.g.reshape(b, {b.shape()[0], 1});
  Value result = call.g.matmul(a, b);
  if (!row && !column) return result;
  std::vector<Dim> dims = result.shape().dims();
  if (column) dims.pop_back();
  if (row) dims.erase(dims.end() - (column ? 1 : 2));
  return call.g.reshape(result, std::move(dims));
}

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

Value real_operand(Call& call, int first) {
  Value stored = call.in(first), zero = call.maybe(first + 2);
  if (zero) zero = spread_parameter(call, zero, stored);
  return dequantized(call, stored, spread_parameter(call, call.in(first + 1), stored), zero);
}

Results stored_result(Call& call, Value real, int scale, DType dtype) {
  Value zero = call.maybe(scale + 1);
  if (zero) zero = spread_parameter(call, zero, real);
  Value quotient = call.g.div(real, spread_parameter(call, call.in(scale), real));
  return {quantized(call, quotient, {.dtype = dtype, .zero = zero})};
}

}  // namespace tenon::onnx
