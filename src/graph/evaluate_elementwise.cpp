// Evaluation of elementwise ops. Floats compute in f64 and round once; integers in 64 bits that
// wrap, then wrap to their width; a NaN operand of min, max and relu stays NaN, as in NumPy.
// Integer division by zero gives 0.
#include <cmath>
#include <functional>
#include <numbers>

#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph::evaluators {

namespace {

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

int64_t integer_unary(Op op, DType dtype, int64_t x) {
  switch (op) {
    case Op::Neg:
      return wrapped(0 - bits(x));
    case Op::Abs:
      return x < 0 && dtype != DType::U64 ? wrapped(0 - bits(x)) : x;
    case Op::Relu:
      return x < 0 && dtype != DType::U64 ? 0 : x;
    case Op::Not:
      return x == 0;
    default:
      throw internal_error("[{}] is no integer op", info(op).text);
  }
}

double float_binary(Op op, double a, double b) {
  switch (op) {
    case Op::Add:
      return a + b;
    case Op::Sub:
      return a - b;
    case Op::Mul:
      return a * b;
    case Op::Div:
      return a / b;
    case Op::Pow:
      return std::pow(a, b);
    case Op::Min:
      return std::isnan(a) || a < b ? a : b;
    case Op::Max:
      return std::isnan(a) || a > b ? a : b;
    default:
      throw internal_error("[{}] is no float op", info(op).text);
  }
}

int64_t integer_power(int64_t base, int64_t exponent, bool is_unsigned) {
  if (exponent < 0 && !is_unsigned) {
    if (base == 1) return 1;
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    return 0;
  }
  uint64_t result = 1, square = bits(base);
  for (uint64_t e = bits(exponent); e != 0; e >>= 1) {
    if (e & 1) result *= square;
    square *= square;
  }
  return wrapped(result);
}

int64_t integer_quotient(int64_t a, int64_t b, bool is_unsigned) {
  if (b == 0) return 0;
  if (is_unsigned) return wrapped(bits(a) / bits(b));
  return b == -1 ? wrapped(0 - bits(a)) : a / b;
}

int64_t integer_binary(Op op, DType dtype, int64_t a, int64_t b) {
  const bool is_unsigned = dtype == DType::U64;  // narrower ones are positive in 64 bits
  const bool less = is_unsigned ? bits(a) < bits(b) : a < b;
  switch (op) {
    case Op::Add:
      return wrapped(bits(a) + bits(b));
    case Op::Sub:
      return wrapped(bits(a) - bits(b));
    case Op::Mul:
      return wrapped(bits(a) * bits(b));
    case Op::Div:
      return integer_quotient(a, b, is_unsigned);
    case Op::Pow:
      return integer_power(a, b, is_unsigned);
    case Op::Min:
      return less ? a : b;
    case Op::Max:
      return less ? b : a;
    case Op::Equal:
      return a == b;
    case Op::Less:
      return less;
    case Op::LessEqual:
      return less || a == b;
    case Op::And:
      return a != 0 && b != 0;
    case Op::Or:
      return a != 0 || b != 0;
    default:
      throw internal_error("[{}] is no integer op", info(op).text);
  }
}

int64_t float_compare(Op op, double a, double b) {
  switch (op) {
    case Op::Equal:
      return a == b;
    case Op::Less:
      return a < b;
    case Op::LessEqual:
      return a <= b;
    default:
      throw internal_error("[{}] is no comparison", info(op).text);
  }
}

// Keeps the low bits, as integer arithmetic of that width would have.
Tensor from_wrapping(DType dtype, Extents shape, std::span<const int64_t> values) {
  std::vector<int64_t> narrow(values.begin(), values.end());
  const int width = info(dtype).bits;
  if (is_integer(dtype) && width < 64) {
    for (int64_t& value : narrow) {
      const uint64_t high = bits(value) << (64 - width);
      value = info(dtype).kind == DTypeKind::Signed ? wrapped(high) >> (64 - width)
                                                    : wrapped(high >> (64 - width));
    }
  }
  return from_integers(dtype, std::move(shape), narrow);
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

}  // namespace

double activate(Op op, double x) {
  switch (op) {
    case Op::Neg:
      return -x;
    case Op::Abs:
      return std::fabs(x);
    case Op::Sqrt:
      return std::sqrt(x);
    case Op::Reciprocal:
      return 1 / x;
    case Op::Exp:
      return std::exp(x);
    case Op::Log:
      return std::log(x);
    case Op::Erf:
      return std::erf(x);
    case Op::Tanh:
      return std::tanh(x);
    case Op::Sigmoid:
      return sigmoid(x);
    case Op::Relu:
      return x < 0 ? 0 : x;
    case Op::Gelu:
      return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case Op::GeluTanh:
      return gelu_tanh(x);
    case Op::Silu:
      return x * sigmoid(x);
    default:
      throw internal_error("[{}] is no float op", info(op).text);
  }
}

Results unary(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  if (is_float(x.dtype)) {
    std::vector<double> values = to_doubles(x);
    for (double& value : values) value = activate(e.node.op(), value);
    return {from_doubles(x.dtype, x.shape, values)};
  }
  std::vector<int64_t> values = to_integers(x);
  for (int64_t& value : values) value = integer_unary(e.node.op(), x.dtype, value);
  return {from_wrapping(x.dtype, x.shape, values)};
}

Results cast(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const bool through_f64 = is_float(x.dtype) || (x.dtype == DType::U64 && is_float(e.dtype()));
  if (through_f64) return {from_doubles(e.dtype(), x.shape, to_doubles(x))};
  if (is_float(e.dtype()) || e.dtype() == DType::Bool) {
    return {from_integers(e.dtype(), x.shape, to_integers(x))};
  }
  return {from_wrapping(e.dtype(), x.shape, to_integers(x))};
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
