// x^y and the remainder of a division. f64.
#include <limits>
#include <vector>

#include "kernel/expand_math.h"

namespace tenon::kernel {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ExprRef is_integral(const ExprRef& x) { return equal(pointwise(Op::Floor, {x}), x); }
ExprRef both(const ExprRef& a, const ExprRef& b) { return pointwise(Op::And, {a, b}); }
ExprRef either(const ExprRef& a, const ExprRef& b) { return pointwise(Op::Or, {a, b}); }
ExprRef negated(const ExprRef& a) { return pointwise(Op::Not, {a}); }

// |x|^y = e^(y log|x|), the product with what it rounds away.
ExprRef positive_power(const ExprRef& a, const ExprRef& y, bool single) {
  const TwoParts log = log_parts(a, !single);
  ExprRef high = select(equal(a, f64(kInf)), a, log.high);
  high = select(equal(a, f64(0)), f64(-kInf), high);
  high = select(equal(a, a), high, a);
  const ExprRef product = y * high;
  const ExprRef rest = fma(y, high, negate(product)) + y * log.low;
  const ExprRef ordinary = less(magnitude(product), f64(1000));
  return exp_of_parts({product, select(ordinary, rest, f64(0))});
}

}  // namespace

// As IEEE 754 has it: x^0 and 1^y are 1 whatever the other is; a negative x has powers of integral
// y only, with its sign where y is odd.
ExprRef pow_f64(const ExprRef& x, const ExprRef& y, bool single) {
  const ExprRef a = magnitude(x);
  const ExprRef one = either(equal(a, f64(1)), equal(y, f64(0)));
  const ExprRef result = select(one, f64(1), positive_power(a, y, single));
  const ExprRef odd = both(is_integral(y), negated(is_integral(y * f64(0.5))));
  const ExprRef bits = bit_cast(x, DType::I64);
  const ExprRef negative = both(odd, less(bits, number(bits, 0)));
  const ExprRef below = both(less(x, f64(0)), less(f64(-kInf), x));
  return select(both(below, negated(is_integral(y))), f64(kNaN),
                select(negative, negate(result), result));
}

// Long division, digits of 48 bits: in each step the quotient is an integer that f64 holds, perhaps
// one too large, and fma gives what is left exactly.
ExprRef remainder_f64(const ExprRef& a, const ExprRef& b, bool single) {
  const int digits = single ? 6 : 44;  // of the largest quotient
  std::vector<ExprRef> divisors = {magnitude(b)};
  for (int i = 1; i < digits; ++i) divisors.push_back(divisors.back() * f64(0x1p48));
  ExprRef r = magnitude(a);
  for (int i = digits; i-- > 0;) {
    const ExprRef& divisor = divisors[static_cast<size_t>(i)];
    const ExprRef quotient = pointwise(Op::Floor, {r / divisor});
    const ExprRef left = fma(negate(quotient), divisor, r);
    const ExprRef next = select(less(left, f64(0)), left + divisor, left);
    r = select(less(r, divisor), r, next);
  }
  return with_sign_of(a, r);
}

}  // namespace tenon::kernel
