// Elementwise functions and operators of tensors: operands are brought to one dtype, then it is an
// op of the table.
#include <limits>

#include "base/error.h"
#include "lazy/apply.h"
#include "lazy/promote.h"

namespace tenon {
namespace {

using graph::Op;
using lazy::apply;
using lazy::as_float;
using lazy::named;
using lazy::promoted;

// Functions of floats make f32 of integers.
Tensor unary(Op op, const Tensor& x) {
  return named(graph::info(op).text,
               [&] { return apply(op, {graph::has(op, graph::kFloatOnly) ? as_float(x) : x}); });
}

Tensor binary_as(Op op, const Tensor& a, const Tensor& b, DType dtype) {
  return apply(op, {a.cast(dtype), b.cast(dtype)});
}

DType promoted_for(Op op, const Tensor& a, const Tensor& b) {
  return promoted(graph::info(op).text, a, b);
}

Tensor binary(Op op, const Tensor& a, const Tensor& b) {
  return binary_as(op, a, b, promoted_for(op, a, b));
}

bool is_number(DType dtype) { return info(dtype).kind != DTypeKind::Bool; }
bool is_float_kind(DType dtype) { return info(dtype).kind == DTypeKind::Float; }

// A dtype in which the op is defined: bools are added and multiplied as i64.
DType numeric(DType dtype) { return is_number(dtype) ? dtype : DType::I64; }

Tensor arithmetic(Op op, const Tensor& a, const Tensor& b) {
  return binary_as(op, a, b, numeric(promoted_for(op, a, b)));
}

Tensor divide(const Tensor& a, const Tensor& b) {
  const DType dtype = promoted_for(Op::Div, a, b);
  return binary_as(Op::Div, a, b, is_float_kind(dtype) ? dtype : DType::F32);
}

Tensor equal(const Tensor& a, const Tensor& b) { return binary(Op::Equal, a, b); }
Tensor not_equal(const Tensor& a, const Tensor& b) { return apply(Op::Not, {equal(a, b)}); }
Tensor less(const Tensor& a, const Tensor& b) { return arithmetic(Op::Less, a, b); }
Tensor less_equal(const Tensor& a, const Tensor& b) { return arithmetic(Op::LessEqual, a, b); }
Tensor greater(const Tensor& a, const Tensor& b) { return less(b, a); }
Tensor greater_equal(const Tensor& a, const Tensor& b) { return less_equal(b, a); }
Tensor add(const Tensor& a, const Tensor& b) { return arithmetic(Op::Add, a, b); }
Tensor subtract(const Tensor& a, const Tensor& b) { return arithmetic(Op::Sub, a, b); }
Tensor multiply(const Tensor& a, const Tensor& b) { return arithmetic(Op::Mul, a, b); }
Tensor modulo(const Tensor& a, const Tensor& b) { return arithmetic(Op::Mod, a, b); }
Tensor shift_left(const Tensor& a, const Tensor& b) { return arithmetic(Op::ShiftLeft, a, b); }

// Of signed integers the op is of unsigned bits: what is below zero is shifted as its complement.
Tensor shift_right(const Tensor& a, const Tensor& b) {
  const DType dtype = numeric(promoted_for(Op::ShiftRight, a, b));
  const Tensor x = a.cast(dtype), by = b.cast(dtype);
  if (info(dtype).kind != DTypeKind::Signed) return apply(Op::ShiftRight, {x, by});
  const Tensor complement = ~apply(Op::ShiftRight, {~x, by});
  return Tensor::where(x < 0, complement, apply(Op::ShiftRight, {x, by}));
}

// Of bools their own op, of integers that of their bits.
Tensor logical(Op of_bools, Op of_bits, const Tensor& a, const Tensor& b) {
  const DType dtype = promoted_for(of_bools, a, b);
  return binary_as(is_number(dtype) ? of_bits : of_bools, a, b, dtype);
}
Tensor bit_and(const Tensor& a, const Tensor& b) { return logical(Op::And, Op::BitAnd, a, b); }
Tensor bit_or(const Tensor& a, const Tensor& b) { return logical(Op::Or, Op::BitOr, a, b); }
Tensor bit_xor(const Tensor& a, const Tensor& b) {
  const DType dtype = promoted_for(Op::BitXor, a, b);
  return is_number(dtype) ? binary_as(Op::BitXor, a, b, dtype) : not_equal(a, b);
}

// The number as the tensor's equal.
Tensor beside(const Tensor& x, const Scalar& value) {
  return lazy::element("tensor", value, promoted(x.dtype(), value));
}
// Every integer can be compared.
Tensor compared(const Tensor& x, const Scalar& value) {
  return lazy::holds(x.dtype(), value) ? beside(x, value) : lazy::constant(value, DType::I64);
}
// A bound that the dtype does not hold is none.
Tensor bound(const Tensor& x, const Scalar& value) {
  return lazy::constant(value, promoted(x.dtype(), value));
}

}  // namespace

#define TENON_UNARY(name, op) \
  Tensor Tensor::name() const { return unary(Op::op, *this); }
TENON_UNARY(sqrt, Sqrt)
TENON_UNARY(reciprocal, Reciprocal)
TENON_UNARY(exp, Exp)
TENON_UNARY(expm1, Expm1)
TENON_UNARY(log, Log)
TENON_UNARY(sin, Sin)
TENON_UNARY(cos, Cos)
TENON_UNARY(tan, Tan)
TENON_UNARY(asin, Asin)
TENON_UNARY(acos, Acos)
TENON_UNARY(atan, Atan)
TENON_UNARY(sinh, Sinh)
TENON_UNARY(cosh, Cosh)
TENON_UNARY(tanh, Tanh)
TENON_UNARY(asinh, Asinh)
TENON_UNARY(acosh, Acosh)
TENON_UNARY(atanh, Atanh)
TENON_UNARY(erf, Erf)
TENON_UNARY(gelu, Gelu)
TENON_UNARY(gelu_tanh, GeluTanh)
TENON_UNARY(silu, Silu)
TENON_UNARY(sigmoid, Sigmoid)
TENON_UNARY(softplus, Softplus)
TENON_UNARY(neg, Neg)
TENON_UNARY(abs, Abs)
TENON_UNARY(sign, Sign)
TENON_UNARY(relu, Relu)
#undef TENON_UNARY

// Integers are whole already.
#define TENON_ROUNDING(name, op)                                                                  \
  Tensor Tensor::name() const {                                                                   \
    return named(#name, [&] { return is_float_kind(dtype()) ? apply(Op::op, {*this}) : *this; }); \
  }
TENON_ROUNDING(floor, Floor)
TENON_ROUNDING(ceil, Ceil)
TENON_ROUNDING(round, Round)
#undef TENON_ROUNDING
Tensor Tensor::trunc() const {
  return named("trunc",
               [&] { return is_float_kind(dtype()) ? where(*this < 0, ceil(), floor()) : *this; });
}

Tensor Tensor::rsqrt() const {
  return named("rsqrt", [&] { return sqrt().reciprocal(); });
}
Tensor Tensor::square() const {
  return named("square", [&] { return *this * *this; });
}
Tensor Tensor::exp2() const {
  return named("exp2", [&] {
    const Tensor x = as_float(*this);
    return lazy::constant(2, x.dtype()).pow(x);
  });
}
Tensor Tensor::log2() const {
  return named("log2", [&] { return log() * 1.4426950408889634; });
}
// Near zero 1 + x rounds: the quotient of the two makes up for it.
Tensor Tensor::log1p() const {
  return named("log1p", [&] {
    const Tensor x = as_float(*this), more = x + 1.0;
    const Tensor exact = more.log() * (x / (more - 1.0));
    const Tensor is_small = more == 1.0,
                 is_endless = more == std::numeric_limits<double>::infinity();
    return where(is_small, x, where(is_endless, more, exact));
  });
}
Tensor Tensor::leaky_relu(double slope) const {
  return named("leaky_relu", [&] {
    const Tensor x = as_float(*this);
    return where(x < 0, x * slope, x);
  });
}
Tensor Tensor::elu(double alpha) const {
  return named("elu", [&] {
    const Tensor x = as_float(*this);
    return where(x < 0, x.minimum(0.0).expm1() * alpha, x);
  });
}
Tensor Tensor::clamp(const std::optional<Scalar>& low, const std::optional<Scalar>& high) const {
  return named("clamp", [&] {
    if (!low && !high) throw user_error("[clamp] neither bound is given");
    const Tensor x = low ? maximum(bound(*this, *low)) : *this;
    return high ? x.minimum(bound(*this, *high)) : x;
  });
}
Tensor Tensor::is_nan() const {
  return named("is_nan", [&] { return *this != *this; });
}
Tensor Tensor::is_inf() const {
  return named("is_inf",
               [&] { return as_float(*this).abs() == std::numeric_limits<double>::infinity(); });
}
Tensor Tensor::logical_not() const {
  return named("logical_not", [&] { return apply(Op::Not, {cast(DType::Bool)}); });
}
Tensor Tensor::cast(DType to) const {
  return named("cast",
               [&] { return to == dtype() ? *this : apply(Op::Cast, {*this}, {{"dtype", to}}); });
}
Tensor Tensor::bit_cast(DType to) const {
  return named("bit_cast", [&] {
    return to == dtype() ? *this : apply(Op::BitCast, {*this}, {{"dtype", to}});
  });
}

Tensor Tensor::where(const Tensor& condition, const Tensor& then, const Tensor& otherwise) {
  return named("where", [&] {
    const DType dtype = promoted_for(Op::Where, then, otherwise);
    return apply(Op::Where, {condition, then.cast(dtype), otherwise.cast(dtype)});
  });
}
Tensor Tensor::where(const Tensor& condition, const Tensor& then, const Scalar& otherwise) {
  return named("where", [&] { return where(condition, then, beside(then, otherwise)); });
}
Tensor Tensor::where(const Tensor& condition, const Scalar& then, const Tensor& otherwise) {
  return named("where", [&] { return where(condition, beside(otherwise, then), otherwise); });
}

#define TENON_BINARY(name, function)                                            \
  Tensor Tensor::name(const Tensor& other) const {                              \
    return named(#name, [&] { return function(*this, other); });                \
  }                                                                             \
  Tensor Tensor::name(const Scalar& other) const {                              \
    return named(#name, [&] { return function(*this, beside(*this, other)); }); \
  }
static Tensor power(const Tensor& a, const Tensor& b) { return arithmetic(Op::Pow, a, b); }
static Tensor lesser(const Tensor& a, const Tensor& b) { return arithmetic(Op::Min, a, b); }
static Tensor larger(const Tensor& a, const Tensor& b) { return arithmetic(Op::Max, a, b); }
// a - mod(a, b) is a multiple of b, so integers need no rounding.
static Tensor divide_down(const Tensor& a, const Tensor& b) {
  const DType dtype = numeric(promoted("floor_divide", a, b));
  if (is_float_kind(dtype)) return binary_as(Op::Div, a, b, dtype).floor();
  const Tensor x = a.cast(dtype), y = b.cast(dtype);
  return apply(Op::Div, {x - modulo(x, y), y});
}
TENON_BINARY(pow, power)
TENON_BINARY(minimum, lesser)
TENON_BINARY(maximum, larger)
TENON_BINARY(floor_divide, divide_down)
TENON_BINARY(mod, modulo)
#undef TENON_BINARY

#define TENON_OPERATOR(op, function, scalar)                            \
  Tensor operator op(const Tensor& a, const Tensor& b) {                \
    return named(#function, [&] { return function(a, b); });            \
  }                                                                     \
  Tensor operator op(const Tensor& a, const Scalar& b) {                \
    return named(#function, [&] { return function(a, scalar(a, b)); }); \
  }                                                                     \
  Tensor operator op(const Scalar& a, const Tensor& b) {                \
    return named(#function, [&] { return function(scalar(b, a), b); }); \
  }
TENON_OPERATOR(+, add, beside)
TENON_OPERATOR(-, subtract, beside)
TENON_OPERATOR(*, multiply, beside)
TENON_OPERATOR(/, divide, beside)
TENON_OPERATOR(%, modulo, beside)
TENON_OPERATOR(==, equal, compared)
TENON_OPERATOR(!=, not_equal, compared)
TENON_OPERATOR(<, less, compared)
TENON_OPERATOR(<=, less_equal, compared)
TENON_OPERATOR(>, greater, compared)
TENON_OPERATOR(>=, greater_equal, compared)
TENON_OPERATOR(&, bit_and, beside)
TENON_OPERATOR(|, bit_or, beside)
TENON_OPERATOR(^, bit_xor, beside)
TENON_OPERATOR(<<, shift_left, beside)
TENON_OPERATOR(>>, shift_right, beside)
#undef TENON_OPERATOR

Tensor operator-(const Tensor& x) { return x.neg(); }
// -1 has every bit set; of unsigned integers it is no number, but a cast keeps its low bits.
Tensor operator~(const Tensor& x) {
  return named("bit_not", [&] {
    if (x.dtype() == DType::Bool) return x.logical_not();
    return x ^ lazy::constant(-1, DType::I64).cast(x.dtype());
  });
}

}  // namespace tenon
