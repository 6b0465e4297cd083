// exp, log, erf and tanh of f32: the functions of models, so their cost counts. The coefficients
// are minimax fits made for the intervals stated beside them.
#include <cmath>
#include <limits>

#include "kernel/expand_math.h"
#include "kernel/normal_cdf.h"

namespace tenon::kernel {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// e^x = 2^n * e^r, |r| <= ln(2)/2.
constexpr double kExpLow = -104, kExpHigh = 88.73;  // just past where results are 0 and infinite
constexpr double kExp[] = {1.0,
                           1.0,
                           0.4999999403953552,
                           0.1666651964187622,
                           0.04166840389370918,
                           0.00836889911442995,
                           0.001381422160193324};
constexpr double kLog2e = 1.44269504088896341;
constexpr double kLn2High = 0.693145751953125;  // 12 significant bits: n * kLn2High is exact
constexpr double kLn2Low = 1.42860682030941723e-6;

// 2^f for |f| <= 1/2.
constexpr double kExp2[] = {1.0,
                            0x1.62e4290d7e8bep-1,
                            0x1.ebf9ba5365565p-3,
                            0x1.c6b7667baec58p-5,
                            0x1.3ceb2e48da898p-7,
                            0x1.5bb3dcb27d2c8p-10};

// erf(x) / x - 1 in x^2, below kErfNear; log2(1 - erf(x)) from there to kErfBound, where erf is 1.
constexpr double kErfNear = 0.87, kErfBound = 3.95;
constexpr double kErf[] = {0x1.06eba65653398p-3,  -0x1.8126f8c3e41c1p-2, 0x1.ce1dc280fdffbp-4,
                           -0x1.b6bde7ee0f18ep-6, 0x1.4870896f7bf33p-8,  -0x1.3f33fe96a298bp-11};
constexpr double kErfRest[] = {-0x1.5b265ccffd58cp-13, -0x1.a09c1bf4f10c2p+0, -0x1.d63b7b0b6ddf1p-1,
                               -0x1.349af26469d21p-3,  0x1.09aab585a47fep-5,  -0x1.25c620b87e388p-8,
                               0x1.325e7f1e6be72p-12};

// log2 of the normal distribution at -x, 0 <= x <= kNormalBound; beyond it is as good as 0.
constexpr double kNormalBound = 7;
constexpr double kNormal[] = {
    -0x1.fffffe9269aadp-1,  -0x1.26aef30adc26ap+0, -0x1.d6368e56c5352p-2,
    -0x1.ae79c587b15b7p-5,  0x1.d455a8179c17cp-8,  -0x1.b02e616858365p-13,
    -0x1.45998687d64cep-13, 0x1.0fe700d07c866p-15, -0x1.29af3a659f790p-19};

// (tanh(x) / x - 1) / x^2 in x^2, below kTanhNear; 1 - 2 / (e^2x + 1) from there.
constexpr double kTanhNear = 0.6, kTanhBound = 9.1;
constexpr double kTanh[] = {-0x1.55553ef763adbp-2, 0x1.1109efbbb9155p-3, -0x1.b8a0fefbe47f4p-5,
                            0x1.54ebc66cf3c42p-6, -0x1.8337ebaac25c7p-8};

// log(x) = e*ln(2) + log(1 + f), sqrt(1/2) <= 1 + f <= sqrt(2); log(1 + f) = f - f^2/2 + f^3 *
// P(f).
constexpr double kLog[] = {0.3333333134651184,   -0.2500081956386566, 0.20001226663589478,
                           -0.16623356938362122, 0.14201757311820984, -0.13160182535648346,
                           0.1276157796382904,   -0.07634498178958893};
constexpr double kSmallestNormal = 0x1p-126;

ExprRef round_of(const ExprRef& x) { return pointwise(Op::Round, {x}); }

ExprRef at_most(double bound, const ExprRef& x) { return pointwise(Op::Min, {f32(bound), x}); }

ExprRef exp2_of(const ExprRef& x) {  // in -252..252
  const ExprRef n = round_of(x);
  return pointwise(Op::Scale, {polynomial(x - n, kExp2), n});
}

}  // namespace

ExprRef exp_f32(const ExprRef& x) {
  const ExprRef clamped = within(kExpLow, x, kExpHigh);
  const ExprRef n = round_of(clamped * f32(kLog2e));
  ExprRef r = fma(n, f32(-kLn2High), clamped);
  r = fma(n, f32(-kLn2Low), r);
  return pointwise(Op::Scale, {polynomial(r, kExp), n});
}

// Near 1 the rest is small, and so is what its errors do.
ExprRef erf_f32(const ExprRef& x) {
  const ExprRef a = at_most(kErfBound, magnitude(x));
  const ExprRef far = f32(1) - exp2_of(polynomial(a, kErfRest));
  const ExprRef near = fma(a, polynomial(a * a, kErf), a);
  return with_sign_of(x, select(less(a, f32(kErfNear)), near, far));
}

ExprRef normal_cdf(const ExprRef& x) {
  const ExprRef below = exp2_of(polynomial(at_most(kNormalBound, magnitude(x)), kNormal));
  return select(less(f32(0), x), f32(1) - below, below);
}

ExprRef tanh_f32(const ExprRef& x) {
  const ExprRef a = at_most(kTanhBound, magnitude(x)), z = a * a;
  const ExprRef far = f32(1) - f32(2) / (exp2_of(a * f32(2 * kLog2e)) + f32(1));
  const ExprRef near = fma(a * z, polynomial(z, kTanh), a);
  return with_sign_of(x, select(less(a, f32(kTanhNear)), near, far));
}

ExprRef log_f32(const ExprRef& x) {
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
  result = select(equal(x, f32(0)), f32(-kInf), result);
  result = select(equal(x, f32(kInf)), f32(kInf), result);
  return select(at_least(x, f32(0)), result, f32(std::numeric_limits<double>::quiet_NaN()));
}

}  // namespace tenon::kernel
