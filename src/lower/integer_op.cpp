#include "lower/integer_op.h"

namespace tenon::lower {

using namespace kernel;

namespace {

ExprRef number(const ExprRef& like, double value) { return constant(like->dtype, value); }
ExprRef less(const ExprRef& a, const ExprRef& b) { return pointwise(Op::Less, {a, b}); }
ExprRef equal(const ExprRef& a, const ExprRef& b) { return pointwise(Op::Equal, {a, b}); }
bool is_signed(const ExprRef& x) { return info(x->dtype).kind == DTypeKind::Signed; }

}  // namespace

ExprRef integer_remainder(const ExprRef& a, const ExprRef& b) {
  const ExprRef zero = number(a, 0);
  return select(equal(b, zero), zero, a - (a / b) * b);
}

ExprRef integer_mod(const ExprRef& a, const ExprRef& b) {
  const ExprRef r = integer_remainder(a, b);
  if (!is_signed(a)) return r;
  const ExprRef zero = number(a, 0);
  // Of other signs, or r is 0: then its sign bit is 0, and b's may be 1.
  const ExprRef apart = less(pointwise(Op::BitXor, {r, b}), zero);
  return select(pointwise(Op::And, {apart, pointwise(Op::Not, {equal(r, zero)})}), r + b, r);
}

// Squares, multiplied where the exponent has a bit.
ExprRef integer_power(const ExprRef& base, const ExprRef& exponent) {
  const ExprRef one = number(base, 1), zero = number(base, 0);
  const int bits = info(base->dtype).bits - (is_signed(base) ? 1 : 0);
  ExprRef result = one, square = base;
  for (int i = 0; i < bits; ++i) {
    const ExprRef bit =
        pointwise(Op::BitAnd, {pointwise(Op::ShiftRight, {exponent, number(base, i)}), one});
    result = select(equal(bit, zero), result, result * square);
    if (i + 1 < bits) square = square * square;
  }
  if (!is_signed(base)) return result;
  const ExprRef minus_one = number(base, -1);
  const ExprRef even = equal(pointwise(Op::BitAnd, {exponent, one}), zero);
  const ExprRef of_minus_one = select(even, one, minus_one);
  const ExprRef inverse =
      select(equal(base, one), one, select(equal(base, minus_one), of_minus_one, zero));
  return select(less(exponent, zero), inverse, result);
}

ExprRef integer_shift(Op op, const ExprRef& x, const ExprRef& by) {
  const ExprRef zero = number(x, 0);
  ExprRef inside = less(by, number(x, info(x->dtype).bits));
  if (is_signed(x)) {
    inside = pointwise(Op::And, {inside, pointwise(Op::LessEqual, {zero, by})});
  }
  const bool keeps_sign = op == Op::ShiftRight && is_signed(x);
  const ExprRef left = keeps_sign ? select(less(x, zero), number(x, -1), zero) : zero;
  return select(inside, pointwise(op, {x, by}), left);
}

}  // namespace tenon::lower
