// The scalar definition of every elementwise op, in the ops of the loop IR. One row per op.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "kernel/normal_cdf.h"
#include "lower/integer_op.h"
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;

namespace {

using Operands = std::vector<ExprRef>;

constexpr double kGeluLow = -7;

ExprRef number(const ExprRef& like, double value) { return constant(like->dtype, value); }
ExprRef unary(Op op, const ExprRef& x) { return pointwise(op, {x}); }
ExprRef less(const ExprRef& a, const ExprRef& b) { return pointwise(Op::Less, {a, b}); }
ExprRef equal(const ExprRef& a, const ExprRef& b) { return pointwise(Op::Equal, {a, b}); }

// NumPy's maximum and minimum: NaN if either is.
ExprRef nan_or(Op op, const ExprRef& a, const ExprRef& b) {
  const ExprRef plain = pointwise(op, {a, b});
  return is_float(a->dtype) ? select(equal(a, a), plain, a) : plain;
}

ExprRef sigmoid(const ExprRef& x) {
  return number(x, 1) / (number(x, 1) + unary(Op::Exp, unary(Op::Neg, x)));
}

// x times the normal distribution, which in f32 never falls to 0: the product ends at that of -7.
ExprRef gelu(const ExprRef& x) {
  if (x->dtype == DType::F64) {
    const ExprRef half = x * number(x, 0.5);
    return fma(half, unary(Op::Erf, x * number(x, std::sqrt(0.5))), half);
  }
  const ExprRef bounded = pointwise(Op::Max, {number(x, kGeluLow), x});
  return bounded * normal_cdf(bounded);
}

ExprRef gelu_tanh(const ExprRef& x) {
  const ExprRef half = x * number(x, 0.5);
  const ExprRef cubic = fma(x * x * x, number(x, 0.044715), x);
  return fma(half, unary(Op::Tanh, cubic * number(x, std::sqrt(2 / M_PI))), half);
}

// In f64, where e^-|x| of every f32 is a normal number.
ExprRef softplus(const ExprRef& x) {
  const ExprRef wide = cast(x, DType::F64), zero = number(wide, 0);
  const ExprRef rest = unary(Op::Exp, unary(Op::Neg, unary(Op::Abs, wide)));
  return cast(pointwise(Op::Max, {zero, wide}) + unary(Op::Log1p, rest), x->dtype);
}

ExprRef sign(const ExprRef& x) {
  const ExprRef zero = number(x, 0), one = number(x, 1);
  if (info(x->dtype).kind == DTypeKind::Unsigned) return select(less(zero, x), one, zero);
  const ExprRef flat = is_float(x->dtype) ? select(equal(x, zero), zero, x) : zero;  // NaN stays
  return select(less(zero, x), one, select(less(x, zero), number(x, -1), flat));
}

// The remainder that has the sign of the divisor; a zero too.
ExprRef float_mod(const ExprRef& a, const ExprRef& b) {
  const ExprRef r = pointwise(Op::Remainder, {a, b}), zero = number(a, 0);
  const ExprRef signs =
      pointwise(Op::BitXor, {cast(less(r, zero), DType::U8), cast(less(b, zero), DType::U8)});
  const ExprRef moved = select(cast(signs, DType::Bool), r + b, r);
  const ExprRef signed_zero = select(less(b, zero), number(a, -0.0), zero);
  return select(equal(r, zero), signed_zero, moved);
}

template <Op op>
ExprRef plain(const Operands& x) {
  return pointwise(op, x);
}
template <ExprRef (*function)(const ExprRef&)>
ExprRef one(const Operands& x) {
  return function(x[0]);
}
// By kind of number.
template <ExprRef (*real)(const ExprRef&, const ExprRef&),
          ExprRef (*integer)(const ExprRef&, const ExprRef&)>
ExprRef by_kind(const Operands& x) {
  return is_float(x[0]->dtype) ? real(x[0], x[1]) : integer(x[0], x[1]);
}
template <Op op>
ExprRef float_op(const ExprRef& a, const ExprRef& b) {
  return pointwise(op, {a, b});
}

struct Row {
  graph::Op op;
  ExprRef (*function)(const Operands& x);
};
using G = graph::Op;
constexpr Row kRows[] = {
    {G::Neg, plain<Op::Neg>},
    {G::Abs, plain<Op::Abs>},
    {G::Sqrt, plain<Op::Sqrt>},
    {G::Reciprocal, [](const Operands& x) { return number(x[0], 1) / x[0]; }},
    {G::Exp, plain<Op::Exp>},
    {G::Log, plain<Op::Log>},
    {G::Erf, plain<Op::Erf>},
    {G::Tanh, plain<Op::Tanh>},
    {G::Sigmoid, one<sigmoid>},
    {G::Relu, [](const Operands& x) { return pointwise(Op::Max, {number(x[0], 0), x[0]}); }},
    {G::Gelu, one<gelu>},
    {G::GeluTanh, one<gelu_tanh>},
    {G::Silu, [](const Operands& x) { return x[0] * sigmoid(x[0]); }},
    {G::Not, plain<Op::Not>},
    {G::Sin, plain<Op::Sin>},
    {G::Cos, plain<Op::Cos>},
    {G::Tan, plain<Op::Tan>},
    {G::Asin, plain<Op::Asin>},
    {G::Acos, plain<Op::Acos>},
    {G::Atan, plain<Op::Atan>},
    {G::Sinh, plain<Op::Sinh>},
    {G::Cosh, plain<Op::Cosh>},
    {G::Asinh, plain<Op::Asinh>},
    {G::Acosh, plain<Op::Acosh>},
    {G::Atanh, plain<Op::Atanh>},
    {G::Expm1, plain<Op::Expm1>},
    {G::Softplus, one<softplus>},
    {G::Ceil,
     [](const Operands& x) { return unary(Op::Neg, unary(Op::Floor, unary(Op::Neg, x[0]))); }},
    {G::Floor, plain<Op::Floor>},
    {G::Round, plain<Op::Round>},
    {G::Sign, one<sign>},
    {G::Add, plain<Op::Add>},
    {G::Sub, plain<Op::Sub>},
    {G::Mul, plain<Op::Mul>},
    {G::Div, plain<Op::Div>},
    {G::Pow, by_kind<float_op<Op::Pow>, integer_power>},
    {G::Mod, by_kind<float_mod, integer_mod>},
    {G::Remainder, by_kind<float_op<Op::Remainder>, integer_remainder>},
    {G::BitAnd, plain<Op::BitAnd>},
    {G::BitOr, plain<Op::BitOr>},
    {G::BitXor, plain<Op::BitXor>},
    {G::ShiftLeft, [](const Operands& x) { return integer_shift(Op::ShiftLeft, x[0], x[1]); }},
    {G::ShiftRight, [](const Operands& x) { return integer_shift(Op::ShiftRight, x[0], x[1]); }},
    {G::Min, [](const Operands& x) { return nan_or(Op::Min, x[0], x[1]); }},
    {G::Max, [](const Operands& x) { return nan_or(Op::Max, x[0], x[1]); }},
    {G::Equal, plain<Op::Equal>},
    {G::Less, plain<Op::Less>},
    {G::LessEqual, plain<Op::LessEqual>},
    {G::And, plain<Op::And>},
    {G::Or, plain<Op::Or>},
    {G::Where, plain<Op::Select>},
};

}  // namespace

ExprRef scalar_op(graph::Op op, std::vector<ExprRef> x) {
  const auto* row = std::ranges::find(kRows, op, &Row::op);
  TENON_CHECK(row != std::end(kRows), "[{}] has no scalar definition", graph::info(op).text);
  return row->function(x);
}

ExprRef activation(const std::string& text, ExprRef x) {
  if (text == "none") return x;
  const auto op = graph::parse_op(text);
  TENON_CHECK(op.has_value(), "unknown activation {}", text);
  return scalar_op(*op, {std::move(x)});
}

}  // namespace tenon::lower
