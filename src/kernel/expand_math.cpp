// Writes exp, log, erf and tanh with the ops that every generator has, so that all generators and
// the interpreter give the same bits. The coefficients are minimax fits made for the intervals
// stated beside them. f32 only: other floats are computed in f32.
#include <cmath>
#include <limits>
#include <span>

#include "base/error.h"
#include "kernel/expand.h"

namespace tenon::kernel {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// NaN in x comes through: Min and Max give their second operand then.
ExprRef below(double bound, ExprRef x) { return pointwise(Op::Min, {f32(bound), std::move(x)}); }
ExprRef above(double bound, ExprRef x) { return pointwise(Op::Max, {f32(bound), std::move(x)}); }

// e^x = 2^n * e^r, |r| <= ln(2)/2. The polynomial gives 2*e^r and the scale is 2^(n-1), so that the
// largest finite results need no 2^128. At the lower clamp n is -126 and the scale, 2^-127, is 0 by
// definition of Pow2: where results would be subnormal they are 0.
constexpr double kExpLow = -87.3;
constexpr double kExpHigh = 88.73;  // just past the overflow
constexpr double kExp[] = {2.0,
                           2.0,
                           2 * 0.4999999403953552,
                           2 * 0.1666651964187622,
                           2 * 0.04166840389370918,
                           2 * 0.00836889911442995,
                           2 * 0.001381422160193324};
constexpr double kLog2e = 1.44269504088896341;
constexpr double kLn2High = 0.693145751953125;  // 12 significant bits: n * kLn2High is exact
constexpr double kLn2Low = 1.42860682030941723e-6;

ExprRef expand_exp(const ExprRef& x) {
  const ExprRef clamped = below(kExpHigh, above(kExpLow, x));
  const ExprRef n = pointwise(Op::Round, {clamped * f32(kLog2e)});
  ExprRef r = fma(n, f32(-kLn2High), clamped);
  r = fma(n, f32(-kLn2Low), r);
  return polynomial(r, kExp) * pointwise(Op::Pow2, {n - f32(1)});
}

// erf(x) = x * P(x^2) / Q(x^2) for |x| <= 3.92, beyond which it is 1 in f32.
constexpr double kErfBound = 3.92;
constexpr double kErfP[] = {0x1.20dd74p+0, 0x1.85f40ep-3, 0x1.b01e3ep-5,
                            0x1.ed91eap-9, 0x1.2ab8fp-12, 0x1.1328ap-19};
constexpr double kErfQ[] = {1.0,           0x1.01102ap-1,  0x1.d36448p-4,
                            0x1.ea8346p-7, 0x1.30c0e6p-10, 0x1.3f8992p-15};

// tanh(x) = x * P(x^2) / Q(x^2) for |x| <= 9.02.
constexpr double kTanhBound = 9.02;
constexpr double kTanhP[] = {1.0, 0.13379718363285065, 0.0034940356854349375, 2.058349855360575e-05,
                             1.3319094271935228e-08};
constexpr double kTanhQ[] = {1.0, 0.4671303331851959, 0.025871077552437782, 0.00032830945565365255,
                             7.762029099467327e-07};

ExprRef odd_rational(const ExprRef& x, double bound, std::span<const double> p,
                     std::span<const double> q) {
  const ExprRef clamped = below(bound, above(-bound, x));
  const ExprRef square = clamped * clamped;
  return clamped * polynomial(square, p) / polynomial(square, q);
}

// log(x) = e*ln(2) + log(1 + f) with 1 + f in sqrt(1/2)..sqrt(2); log(1 + f) = f - f^2/2 + f^3 *
// P(f).
constexpr double kLog[] = {0.3333333134651184,   -0.2500081956386566, 0.20001226663589478,
                           -0.16623356938362122, 0.14201757311820984, -0.13160182535648346,
                           0.1276157796382904,   -0.07634498178958893};
constexpr double kSmallestNormal = 0x1p-126;

ExprRef expand_log(const ExprRef& x) {
  const ExprRef subnormal = less(x, f32(kSmallestNormal));
  const ExprRef normal = select(subnormal, x * f32(0x1p24), x);
  const ExprRef m = pointwise(Op::Mantissa, {normal});
  const ExprRef high = less(f32(std::sqrt(2.0)), m);
  const ExprRef f = select(high, m * f32(0.5), m) - f32(1);
  ExprRef e = pointwise(Op::Exponent, {normal}) + select(high, f32(1), f32(0));
  e = e - select(subnormal, f32(24), f32(0));
  const ExprRef square = f * f;
  ExprRef tail = fma(square * f, polynomial(f, kLog), e * f32(kLn2Low));
  tail = fma(square, f32(-0.5), tail);
  ExprRef result = fma(e, f32(kLn2High), f + tail);
  result = select(pointwise(Op::Equal, {x, f32(0)}), f32(-kInf), result);
  result = select(pointwise(Op::Equal, {x, f32(kInf)}), f32(kInf), result);
  const ExprRef positive = pointwise(Op::LessEqual, {f32(0), x});
  return select(positive, result, f32(std::numeric_limits<double>::quiet_NaN()));
}

ExprRef expand(Op op, const ExprRef& x) {
  switch (op) {
    case Op::Exp:
      return expand_exp(x);
    case Op::Erf:
      return odd_rational(x, kErfBound, kErfP, kErfQ);
    case Op::Tanh:
      return odd_rational(x, kTanhBound, kTanhP, kTanhQ);
    case Op::Log:
      return expand_log(x);
    default:
      throw internal_error("no expansion of {}", info(op).text);
  }
}

}  // namespace

ExprRef expand_math(const ExprRef& root) {
  return transform(root, [](Expr& copy) -> ExprRef {
    if (copy.op == Op::Cast && !is_plain_cast(copy.args[0]->dtype, copy.dtype)) {
      return expand_cast(copy.args[0], copy.dtype);
    }
    if (!has(copy.op, kExpanded)) return nullptr;
    return cast(expand(copy.op, cast(copy.args[0], DType::F32)), copy.dtype);
  });
}

}  // namespace tenon::kernel
