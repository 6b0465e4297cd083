// exp and log of f64, and their forms near 0: what the other functions are made of. Polynomials are
// series, cut where the rest is below the last place of f64.
#include <cmath>
#include <limits>
#include <vector>

#include "kernel/expand_math.h"

namespace tenon::kernel {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kLog2e = 1.44269504088896341;
constexpr double kLn2 = 0x1.62e42fefa39efp-1, kLn2Rest = 0x1.abc9e3b39803fp-56;
constexpr double kLn2High = 0x1.62e42fefa3800p-1;  // 42 bits: times an exponent it is exact
constexpr double kLn2Low = 0x1.ef35793c76730p-45;
constexpr double kMagic = 0x1.8p52;  // an integer added to it stands in the low bits

ExprRef round_of(const ExprRef& x) { return pointwise(Op::Round, {x}); }

// 2^n of an integral n in -1022..1023.
ExprRef power_of_two(const ExprRef& n) {
  const ExprRef bits = bit_cast(n + f64(kMagic), DType::U64);
  return bit_cast(shift_left(bits + number(bits, 1023), 52), DType::F64);
}

// e^r - 1 for |r| <= ln(2)/2.
ExprRef short_expm1(const ExprRef& r) {
  constexpr int kLast = 13;
  std::vector<double> c;
  double factorial = 1;
  for (int i = 2; i <= kLast; ++i) c.push_back(1 / (factorial *= i));
  return r + r * r * polynomial(r, c);
}

// x = n*ln(2) + r
struct Reduced {
  ExprRef n, r;
};
Reduced reduce_exponent(const ExprRef& x) {
  const ExprRef n = round_of(x * f64(kLog2e));
  return {n, fma(n, f64(-kLn2Rest), fma(n, f64(-kLn2), x))};
}

}  // namespace

// Scaled in two steps, so that subnormal results are rounded once.
ExprRef exp_of_parts(const TwoParts& x) {
  const auto [n, r] = reduce_exponent(within(-746, x.high, 710));
  const ExprRef half = pointwise(Op::Floor, {n * f64(0.5)});
  const ExprRef y = f64(1) + short_expm1(x.low ? r + x.low : r);
  return y * power_of_two(half) * power_of_two(n - half);
}

ExprRef exp_f64(const ExprRef& x) { return exp_of_parts({x, nullptr}); }

// 2^n * (e^r - 1) + (2^n - 1), with half of each so that the largest n does not overflow.
ExprRef expm1_f64(const ExprRef& x) {
  const auto [n, r] = reduce_exponent(within(-50, x, 710));
  const ExprRef half = power_of_two(n - f64(1));
  const ExprRef y = f64(2) * fma(half, short_expm1(r), half - f64(0.5));
  return select(equal(x, f64(0)), x, y);
}

// x = 2^e * (1 + f), sqrt(1/2) <= 1 + f <= sqrt(2); log(1 + f) = 2 atanh(s), s = f / (2 + f).
TwoParts log_parts(const ExprRef& x, bool precise) {
  const ExprRef subnormal = less(x, f64(0x1p-1022));
  const ExprRef bits = bit_cast(select(subnormal, x * f64(0x1p54), x), DType::U64);
  const ExprRef biased =
      bit_cast(bit_or(shift_right(bits, 52), number(bits, 0x433p52)), DType::F64) - f64(0x1p52);
  const ExprRef m = bit_cast(bit_or(bit_and(bits, 0x1p52 - 1), number(bits, 0x3ffp52)), DType::F64);
  const ExprRef high = less(f64(std::sqrt(2.0)), m);
  const ExprRef f = select(high, m * f64(0.5), m) - f64(1);
  const ExprRef e =
      biased - select(subnormal, f64(1023 + 54), f64(1023)) + select(high, f64(1), f64(0));
  const ExprRef t = f + f64(2), s = f / t, z = s * s;
  constexpr int kTerms = 12;
  std::vector<double> c;
  for (int i = 0; i < kTerms; ++i) c.push_back(2.0 / (2 * i + 3));
  ExprRef tail = fma(e, f64(kLn2Low), s * z * polynomial(z, c));
  if (precise) {  // what the quotient has lost
    const ExprRef rest = fma(negate(s), t, f) - s * (f - (t - f64(2)));
    tail = fma(rest / t, f64(2), tail);
  }
  const ExprRef whole = e * f64(kLn2High), twice = s + s;
  const ExprRef sum = whole + twice;
  return {sum, ((whole - sum) + twice) + tail};
}

ExprRef log_f64(const ExprRef& x) {
  const TwoParts parts = log_parts(x, false);
  ExprRef result = parts.high + parts.low;
  result = select(equal(x, f64(0)), f64(-kInf), result);
  result = select(equal(x, f64(kInf)), f64(kInf), result);
  return select(at_least(x, f64(0)), result, f64(kNaN));
}

// log(u) for u = 1 + x as rounded, and what rounding has dropped.
ExprRef log1p_f64(const ExprRef& x) {
  const ExprRef u = x + f64(1);
  const ExprRef rest = (x - (u - f64(1))) / u;
  const ExprRef finite = pointwise(Op::And, {less(f64(0), u), less(u, f64(kInf))});
  const ExprRef result = log_f64(u) + select(finite, rest, f64(0));
  return select(equal(x, f64(0)), x, result);
}

}  // namespace tenon::kernel
