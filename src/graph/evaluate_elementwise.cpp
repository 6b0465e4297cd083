// Evaluation of elementwise ops: the scalar definitions of scalar_math.h at every position. Floats
// compute in f64 and round once; integers in 64 bits that wrap, then wrap to their width.
#include "base/error.h"
#include "graph/cast_rounding.h"
#include "graph/evaluate.h"
#include "graph/scalar_math.h"

namespace tenon::graph::evaluators {

namespace {

Tensor from_wrapping(DType dtype, Extents shape, std::vector<int64_t> values) {
  for (int64_t& value : values) value = wrap_to(dtype, value);
  return from_integers(dtype, std::move(shape), values);
}

template <typename To, typename From, typename Function>
std::vector<To> zip(const std::vector<From>& a, const std::vector<int64_t>& at_a,
                    const std::vector<From>& b, const std::vector<int64_t>& at_b, Function f) {
  std::vector<To> result(at_a.size());
  for (size_t i = 0; i < result.size(); ++i) {
    result[i] = f(a[static_cast<size_t>(at_a[i])], b[static_cast<size_t>(at_b[i])]);
  }
  return result;
}

Tensor cast_to_narrow_float(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const NarrowRounding rounding = cast_rounding(e.attributes());
  const std::vector<double> values = to_doubles(x);
  Tensor result = make_tensor(e.dtype(), x.shape);
  for (size_t i = 0; i < values.size(); ++i) {
    result.bytes[i] = std::byte{encode_narrow(e.dtype(), values[i], rounding)};
  }
  return result;
}

}  // namespace

Results unary(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  if (is_float(x.dtype)) {
    std::vector<double> values = to_doubles(x);
    for (double& value : values) value = activate(e.node.op(), value);
    return {from_doubles(x.dtype, x.shape, values)};
  }
  std::vector<int64_t> values = to_integers(x);
  for (int64_t& value : values) value = integer_unary(e.node.op(), x.dtype, value);
  return {from_wrapping(x.dtype, x.shape, std::move(values))};
}

Results cast(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  if (is_float(e.dtype()) && is_storage_only(e.dtype())) return {cast_to_narrow_float(e)};
  const bool through_f64 = is_float(x.dtype) || (x.dtype == DType::U64 && is_float(e.dtype()));
  if (through_f64) return {from_doubles(e.dtype(), x.shape, to_doubles(x))};
  if (is_float(e.dtype()) || e.dtype() == DType::Bool) {
    return {from_integers(e.dtype(), x.shape, to_integers(x))};
  }
  return {from_wrapping(e.dtype(), x.shape, to_integers(x))};
}

Results bit_cast(const Evaluation& e) {
  Tensor result = e.operand(0);
  result.dtype = e.dtype();
  if (result.dtype == DType::Bool) {
    for (std::byte& element : result.bytes) element = std::byte{element != std::byte{0}};
  }
  return {std::move(result)};
}

Results binary(const Evaluation& e) {
  const Tensor &a = e.operand(0), &b = e.operand(1);
  const Op op = e.node.op();
  const Extents shape = broadcast_extents(op, a.shape, b.shape);
  const std::vector<int64_t> at_a = spread_offsets(a.shape, shape);
  const std::vector<int64_t> at_b = spread_offsets(b.shape, shape);
  if (!is_float(a.dtype)) {
    const auto f = [&](int64_t x, int64_t y) { return integer_binary(op, a.dtype, x, y); };
    return {from_wrapping(e.dtype(), shape,
                          zip<int64_t>(to_integers(a), at_a, to_integers(b), at_b, f))};
  }
  const std::vector<double> left = to_doubles(a), right = to_doubles(b);
  if (has(op, kCompare)) {
    const auto f = [&](double x, double y) { return float_compare(op, x, y); };
    return {from_integers(DType::Bool, shape, zip<int64_t>(left, at_a, right, at_b, f))};
  }
  const auto f = [&](double x, double y) { return float_binary(op, x, y); };
  return {from_doubles(e.dtype(), shape, zip<double>(left, at_a, right, at_b, f))};
}

Results where(const Evaluation& e) {
  const Tensor &condition = e.operand(0), &then = e.operand(1), &otherwise = e.operand(2);
  Extents shape = broadcast_extents(Op::Where, then.shape, otherwise.shape);
  shape = broadcast_extents(Op::Where, shape, condition.shape);
  const std::vector<int64_t> at = spread_offsets(condition.shape, shape);
  Tensor result = pick(otherwise, shape, spread_offsets(otherwise.shape, shape));
  const Tensor chosen = pick(then, shape, spread_offsets(then.shape, shape));
  const auto size = static_cast<size_t>(size_of(then.dtype));
  for (size_t i = 0; i < at.size(); ++i) {
    if (condition.bytes[static_cast<size_t>(at[i])] == std::byte{0}) continue;
    for (size_t k = i * size; k < (i + 1) * size; ++k) result.bytes[k] = chosen.bytes[k];
  }
  return {std::move(result)};
}

}  // namespace tenon::graph::evaluators
