// Scalar definitions. A NaN operand of min, max and relu stays NaN, as in NumPy. Integer division
// by zero gives 0, and so does its remainder.
#include "graph/scalar_math.h"

#include <cmath>
#include <numbers>

#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph {

namespace {

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }
int64_t wrapped(uint64_t value) { return static_cast<int64_t>(value); }

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double gelu_tanh(double x) {
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

double softplus(double x) {
  return std::isnan(x) ? x : std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}

double sign(double x) { return std::isnan(x) ? x : static_cast<double>((x > 0) - (x < 0)); }

// The remainder that has the sign of the divisor; a zero too.
double float_mod(double a, double b) {
  const double r = std::fmod(a, b);
  if (r == 0) return std::copysign(0.0, b);
  return std::signbit(r) != std::signbit(b) ? r + b : r;
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

int64_t integer_remainder(int64_t a, int64_t b, bool is_unsigned) {
  if (b == 0) return 0;
  if (is_unsigned) return wrapped(bits(a) % bits(b));
  return b == -1 ? 0 : a % b;
}

int64_t integer_mod(int64_t a, int64_t b, bool is_unsigned) {
  const int64_t r = integer_remainder(a, b, is_unsigned);
  return !is_unsigned && r != 0 && (r < 0) != (b < 0) ? r + b : r;
}

int64_t shifted(Op op, DType dtype, int64_t x, int64_t by) {
  const bool left = op == Op::ShiftLeft, is_unsigned = dtype == DType::U64;
  if (by < 0 || by >= info(dtype).bits) return !left && !is_unsigned && x < 0 ? -1 : 0;
  if (left) return wrapped(bits(x) << by);
  return is_unsigned ? wrapped(bits(x) >> by) : x >> by;
}

}  // namespace

int64_t wrap_to(DType dtype, int64_t value) {
  const int unused = 64 - info(dtype).bits;
  if (!is_integer(dtype) || unused == 0) return value;
  const uint64_t high = bits(value) << unused;
  return info(dtype).kind == DTypeKind::Signed ? wrapped(high) >> unused : wrapped(high >> unused);
}

int64_t integer_unary(Op op, DType dtype, int64_t x) {
  const bool negative = x < 0 && dtype != DType::U64;
  switch (op) {
    case Op::Neg:
      return wrapped(0 - bits(x));
    case Op::Abs:
      return negative ? wrapped(0 - bits(x)) : x;
    case Op::Relu:
      return negative ? 0 : x;
    case Op::Sign:
      return negative ? -1 : x != 0;
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
    case Op::Mod:
      return float_mod(a, b);
    case Op::Remainder:
      return std::fmod(a, b);
    default:
      throw internal_error("[{}] is no float op", info(op).text);
  }
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
    case Op::Mod:
      return integer_mod(a, b, is_unsigned);
    case Op::Remainder:
      return integer_remainder(a, b, is_unsigned);
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
    case Op::BitAnd:
      return a & b;
    case Op::BitOr:
      return a | b;
    case Op::BitXor:
      return a ^ b;
    case Op::ShiftLeft:
    case Op::ShiftRight:
      return shifted(op, dtype, a, b);
    default:
      throw internal_error("[{}] is no integer op", info(op).text);
  }
}

bool float_compare(Op op, double a, double b) {
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

// One row per float function of one number.
double evaluators::activate(Op op, double x) {
  using Function = double (*)(double);
  struct Row {
    Op op;
    Function function;
  };
  static constexpr Row kRows[] = {
      {Op::Neg, [](double v) { return -v; }},
      {Op::Abs, [](double v) { return std::fabs(v); }},
      {Op::Sqrt, [](double v) { return std::sqrt(v); }},
      {Op::Reciprocal, [](double v) { return 1 / v; }},
      {Op::Exp, [](double v) { return std::exp(v); }},
      {Op::Log, [](double v) { return std::log(v); }},
      {Op::Erf, [](double v) { return std::erf(v); }},
      {Op::Tanh, [](double v) { return std::tanh(v); }},
      {Op::Sigmoid, sigmoid},
      {Op::Relu, [](double v) { return v < 0 ? 0 : v; }},
      {Op::Gelu, [](double v) { return 0.5 * v * (1 + std::erf(v / std::numbers::sqrt2)); }},
      {Op::GeluTanh, gelu_tanh},
      {Op::Silu, [](double v) { return v * sigmoid(v); }},
      {Op::Sin, [](double v) { return std::sin(v); }},
      {Op::Cos, [](double v) { return std::cos(v); }},
      {Op::Tan, [](double v) { return std::tan(v); }},
      {Op::Asin, [](double v) { return std::asin(v); }},
      {Op::Acos, [](double v) { return std::acos(v); }},
      {Op::Atan, [](double v) { return std::atan(v); }},
      {Op::Sinh, [](double v) { return std::sinh(v); }},
      {Op::Cosh, [](double v) { return std::cosh(v); }},
      {Op::Asinh, [](double v) { return std::asinh(v); }},
      {Op::Acosh, [](double v) { return std::acosh(v); }},
      {Op::Atanh, [](double v) { return std::atanh(v); }},
      {Op::Expm1, [](double v) { return std::expm1(v); }},
      {Op::Softplus, softplus},
      {Op::Ceil, [](double v) { return std::ceil(v); }},
      {Op::Floor, [](double v) { return std::floor(v); }},
      {Op::Round, [](double v) { return std::nearbyint(v); }},
      {Op::Sign, sign},
  };
  for (const Row& row : kRows) {
    if (row.op == op) return row.function(x);
  }
  throw internal_error("[{}] is no float op", info(op).text);
}

}  // namespace tenon::graph
