// Importers of ONNX Runtime's ops on quantized numbers: each computes in real ones, and stores what
// comes out by the scale and zero point of the result.
#include <algorithm>

#include "import/onnx/compute.h"
#include "import/onnx/importers.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/ops/quantize.h"
#include "import/onnx/quantized.h"

namespace tenon::onnx::importers {
namespace {

// Axes without those of extent 1 that a reduction leaves.
Value without_axes(Call& call, Value x, const std::vector<int64_t>& axes) {
  std::vector<Dim> dims;
  for (int i = 0; i < x.shape().rank(); ++i) {
    if (std::ranges::find(axes, i) == axes.end()) dims.push_back(x.shape()[i]);
  }
  return call.g.reshape(x, std::move(dims));
}

// By the attributes `axes` (absent or empty: all) and `keepdims`.
Value reduced(Call& call, Op op, Value x) {
  std::vector<int64_t> axes = call.integers("axes").value_or(std::vector<int64_t>{});
  const bool keeps = call.flag("keepdims", true);
  for (int i = 0; axes.empty() && i < x.shape().rank(); ++i) axes.push_back(i);
  axes = Call::axes_of(std::move(axes), x.shape().rank());
  if (axes.empty()) return x;
  Value y = call.g.reduce(op, x, axes);
  return keeps ? y : without_axes(call, y, axes);
}

// Before opset 13 the axes from `axis` on are one.
Value softmax_of(Call& call, Value x, int64_t opset) {
  const int rank = x.shape().rank();
  const int64_t axis = Call::axis_of(call.integer("axis", opset < 13 ? 1 : -1), rank);
  if (opset >= 13) return call.g.softmax(x, axis);
  const std::vector<Dim> dims = x.shape().dims();
  Value flat = call.g.reshape(x, {product({dims.begin(), dims.begin() + axis}),
                                  product({dims.begin() + axis, dims.end()})});
  return call.g.reshape(call.g.softmax(flat, 1), dims);
}

Value matrix(Call& call, int i, bool transposed) {
  Value x = call.in(i);
  if (x.shape().rank() != 2) throw user_error("{} is no matrix", x.type().to_string());
  return transposed ? call.g.transpose(x, {1, 0}) : x;
}

}  // namespace

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

Results qlinear_softmax(Call& call) {
  Value y = softmax_of(call, real_operand(call, 0), call.integer("opset"));
  return stored_result(call, y, 3, call.in(0).dtype());
}

Results qlinear_where(Call& call) {
  if (call.in(0).dtype() != DType::Bool) throw user_error("the condition must be bool");
  Value real = call.g.apply(Op::Where, {call.in(0), real_operand(call, 1), real_operand(call, 4)});
  return stored_result(call, real, 7, call.in(1).dtype());
}

Results qlinear_reduce_mean(Call& call) {
  Value y = reduced(call, Op::ReduceMean, real_operand(call, 0));
  return stored_result(call, y, 3, call.in(0).dtype());
}

Results reduce_sum_integer(Call& call) {
  return {reduced(call, Op::ReduceSum, as(call, call.in(0), DType::I32))};
}

Results mul_integer(Call& call) {
  const auto operand = [&](int i) {
    Value zero = call.maybe(i + 1);
    return without_zero(call, call.in(i), zero ? call.g.reshape(zero, {}) : zero);
  };
  return {call.g.mul(operand(0), operand(2))};
}

Results matmul_integer_16(Call& call) {
  return {matmul_of(call, as(call, call.in(0), DType::I32), as(call, call.in(1), DType::I32))};
}

// alpha * a @ b, with a bias in units of the product of their scales; stored, or real where the
// result has no scale.
Results quantized_gemm(Call& call) {
  graph::Graph& g = call.g;
  Value a = matrix(call, 0, call.flag("transA", false));
  Value b = matrix(call, 3, call.flag("transB", false));
  Value sum = integer_product(call, a, call.in(2), b, call.in(5));
  if (Value bias = call.maybe(6)) sum = g.add(sum, as(call, bias, DType::I32));
  Value scale = g.mul(per_row(call, call.in(1), a), per_column(call, call.in(4)));
  scale = g.mul(scale, number_like(call, scale, call.number("alpha", 1)));
  Value real = g.mul(as(call, sum, scale.dtype()), scale);
  if (!call.maybe(7)) return {real};
  return stored_result(call, real, 7, call.in(8).dtype());
}

}  // namespace tenon::onnx::importers
