// The scalar definition of every elementwise op, in the ops of the loop IR.
#include <cmath>

#include "base/error.h"
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;

namespace {

ExprRef number(const ExprRef& like, double value) { return constant(like->dtype, value); }
ExprRef unary(Op op, const ExprRef& x) { return pointwise(op, {x}); }

// NumPy's maximum and minimum: NaN if either is.
ExprRef nan_or(Op op, const ExprRef& a, const ExprRef& b) {
  const ExprRef plain = pointwise(op, {a, b});
  return is_float(a->dtype) ? select(pointwise(Op::Equal, {a, a}), plain, a) : plain;
}

ExprRef sigmoid(const ExprRef& x) {
  return number(x, 1) / (number(x, 1) + unary(Op::Exp, unary(Op::Neg, x)));
}

ExprRef gelu(const ExprRef& x) {
  const ExprRef half = x * number(x, 0.5);
  return fma(half, unary(Op::Erf, x * number(x, std::sqrt(0.5))), half);
}

ExprRef gelu_tanh(const ExprRef& x) {
  const ExprRef half = x * number(x, 0.5);
  const ExprRef cubic = fma(x * x * x, number(x, 0.044715), x);
  return fma(half, unary(Op::Tanh, cubic * number(x, std::sqrt(2 / M_PI))), half);
}

}  // namespace

ExprRef scalar_op(graph::Op op, std::vector<ExprRef> x) {
  using G = graph::Op;
  switch (op) {
    case G::Neg:
      return unary(Op::Neg, x[0]);
    case G::Abs:
      return unary(Op::Abs, x[0]);
    case G::Sqrt:
      return unary(Op::Sqrt, x[0]);
    case G::Reciprocal:
      return number(x[0], 1) / x[0];
    case G::Exp:
      return unary(Op::Exp, x[0]);
    case G::Log:
      return unary(Op::Log, x[0]);
    case G::Erf:
      return unary(Op::Erf, x[0]);
    case G::Tanh:
      return unary(Op::Tanh, x[0]);
    case G::Sigmoid:
      return sigmoid(x[0]);
    case G::Relu:
      return pointwise(Op::Max, {number(x[0], 0), x[0]});
    case G::Gelu:
      return gelu(x[0]);
    case G::GeluTanh:
      return gelu_tanh(x[0]);
    case G::Silu:
      return x[0] * sigmoid(x[0]);
    case G::Not:
      return unary(Op::Not, x[0]);
    case G::Add:
      return x[0] + x[1];
    case G::Sub:
      return x[0] - x[1];
    case G::Mul:
      return x[0] * x[1];
    case G::Div:
      return x[0] / x[1];
    case G::Min:
      return nan_or(Op::Min, x[0], x[1]);
    case G::Max:
      return nan_or(Op::Max, x[0], x[1]);
    case G::Equal:
      return pointwise(Op::Equal, {x[0], x[1]});
    case G::Less:
      return pointwise(Op::Less, {x[0], x[1]});
    case G::LessEqual:
      return pointwise(Op::LessEqual, {x[0], x[1]});
    case G::And:
      return pointwise(Op::And, {x[0], x[1]});
    case G::Or:
      return pointwise(Op::Or, {x[0], x[1]});
    case G::Where:
      return select(x[0], x[1], x[2]);
    default:
      throw internal_error("[{}] has no scalar definition", graph::info(op).text);
  }
}

ExprRef activation(const std::string& text, ExprRef x) {
  if (text == "none") return x;
  const auto op = graph::parse_op(text);
  TENON_CHECK(op.has_value(), "unknown activation {}", text);
  return scalar_op(*op, {std::move(x)});
}

}  // namespace tenon::lower
