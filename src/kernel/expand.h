// What the expansions share: short forms of expressions. Private to expand_*.cpp.
#pragma once

#include <span>

#include "kernel/expr.h"

namespace tenon::kernel {

// A constant of x's dtype.
inline ExprRef number(const ExprRef& x, double value) { return constant(x->dtype, value); }
inline ExprRef less(ExprRef a, ExprRef b) {
  return pointwise(Op::Less, {std::move(a), std::move(b)});
}
inline ExprRef at_least(ExprRef a, ExprRef b) {  // a >= b
  return pointwise(Op::LessEqual, {std::move(b), std::move(a)});
}
inline ExprRef equal(ExprRef a, ExprRef b) {
  return pointwise(Op::Equal, {std::move(a), std::move(b)});
}
inline ExprRef negate(ExprRef x) { return pointwise(Op::Neg, {std::move(x)}); }
inline ExprRef magnitude(ExprRef x) { return pointwise(Op::Abs, {std::move(x)}); }
inline ExprRef bit_and(ExprRef a, double b) {
  const ExprRef mask = number(a, b);
  return pointwise(Op::BitAnd, {std::move(a), mask});
}
inline ExprRef bit_or(ExprRef a, ExprRef b) {
  return pointwise(Op::BitOr, {std::move(a), std::move(b)});
}
inline ExprRef shift_left(ExprRef a, int by) {
  const ExprRef amount = number(a, by);
  return pointwise(Op::ShiftLeft, {std::move(a), amount});
}
inline ExprRef shift_right(ExprRef a, int by) {
  const ExprRef amount = number(a, by);
  return pointwise(Op::ShiftRight, {std::move(a), amount});
}

// c[0] + x*(c[1] + x*(...)) by fma.
inline ExprRef polynomial(const ExprRef& x, std::span<const double> c) {
  ExprRef result = number(x, c.back());
  for (size_t i = c.size() - 1; i-- > 0;) result = fma(result, x, number(x, c[i]));
  return result;
}

// expand_cast.cpp: a cast in plain casts and bits.
ExprRef expand_cast(const ExprRef& x, DType to);
// The f32 that rounds as x does in floats of up to 22 bits of fraction: x itself where it is one,
// else the neighbour with an odd last bit.
ExprRef odd_f32(const ExprRef& x);

// expand_narrow.cpp
ExprRef decode_narrow(const ExprRef& code);  // of a float of 8 or 4 bits, as f32

}  // namespace tenon::kernel
