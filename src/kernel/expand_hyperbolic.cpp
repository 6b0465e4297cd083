// Hyperbolic functions and their inverses by way of e^x - 1 and log(1 + x), which lose nothing near
// 0; the error function by a polynomial, and by what is missing to 1. f64.
#include <limits>

#include "kernel/expand_math.h"

namespace tenon::kernel {

namespace {

constexpr double kLn2 = 0x1.62e42fefa39efp-1;
constexpr double kLarge = 0x1p28;  // beyond: log(2x) is asinh(x) and acosh(x)
constexpr double kOneSided = 22;   // beyond: e^-x is nothing beside e^x

ExprRef square_root(const ExprRef& x) { return pointwise(Op::Sqrt, {x}); }

// e^a / 2 for large a: by halves, which overflow only where the result does.
ExprRef half_exp(const ExprRef& a) {
  const ExprRef root = exp_f64(a * f64(0.5));
  return root * f64(0.5) * root;
}

// erf(x) / x in x^2, up to 2.
constexpr double kErf[] = {
    0x1.20dd750429b6dp+0,  -0x1.812746b0379e6p-2,  0x1.ce2f21a042bb4p-4,  -0x1.b82ce31288332p-6,
    0x1.565bcd0e5df32p-8,  -0x1.c02db3fecec41p-11, 0x1.f9a326dcea6bap-14, -0x1.f4d25aa98cdd5p-17,
    0x1.b9e6b9a38fa98p-20, -0x1.5f73b1da9b63ep-23, 0x1.fcbfb6127f9c6p-27, -0x1.51bd1a2324b3ap-30,
    0x1.9db410ed288bap-34, -0x1.d45ff0d6c2b48p-38, 0x1.e6182e98b5876p-42, -0x1.c0814e8a2317cp-46,
    0x1.569a50a823980p-50, -0x1.7859cfd24caf2p-55, 0x1.b059950ef7a87p-61};
// e^(x^2) * (1 - erf(x)) in 1/x, from 2 to 6.1.
constexpr double kErfRest[] = {0x1.a8e370326c63bp-24, 0x1.20dcc630a8af5p-1,  0x1.0805ce11f74f7p-13,
                               -0x1.22c13c2341949p-2, 0x1.2b222a7fb1f18p-6,  0x1.2e3f5e776c9aap-2,
                               0x1.4ab5818022d11p-1,  -0x1.af540051c5267p+1, 0x1.5d27b25e2d487p+2,
                               -0x1.45e0c60a585a0p+1, -0x1.7e949a75a9ab5p+2, 0x1.b383464d22fcbp+3,
                               -0x1.abd2b5dcb4900p+3, 0x1.bb63b67dfa110p+2,  -0x1.8bc1acf1c3f0ep+0};

}  // namespace

ExprRef erf_f64(const ExprRef& x) {
  const ExprRef a = magnitude(x), z = x * x;
  const ExprRef large = within(2, a, 6.1);
  const ExprRef rest = exp_f64(negate(large * large)) * polynomial(f64(1) / large, kErfRest);
  const ExprRef far = with_sign_of(x, f64(1) - rest);
  return select(less(f64(2), a), far, x * polynomial(z, kErf));
}

ExprRef tanh_f64(const ExprRef& x) {
  const ExprRef t = expm1_f64(within(0, magnitude(x), 20) * f64(2));
  return with_sign_of(x, t / (t + f64(2)));
}

ExprRef sinh_f64(const ExprRef& x) {
  const ExprRef a = magnitude(x), t = expm1_f64(a);
  const ExprRef near = (t + t / (t + f64(1))) * f64(0.5);
  return with_sign_of(x, select(less(f64(kOneSided), a), half_exp(a), near));
}

ExprRef cosh_f64(const ExprRef& x) {
  const ExprRef a = magnitude(x), e = exp_f64(a);
  return select(less(f64(kOneSided), a), half_exp(a), (e + f64(1) / e) * f64(0.5));
}

ExprRef asinh_f64(const ExprRef& x) {
  const ExprRef a = magnitude(x), square = a * a;
  const ExprRef near = log1p_f64(a + square / (f64(1) + square_root(square + f64(1))));
  const ExprRef far = log_f64(a) + f64(kLn2);
  return with_sign_of(x, select(less(f64(kLarge), a), far, near));
}

ExprRef acosh_f64(const ExprRef& x) {
  const ExprRef t = x - f64(1);
  const ExprRef near = log1p_f64(t + square_root(t * (t + f64(2))));
  const ExprRef result = select(less(f64(kLarge), x), log_f64(x) + f64(kLn2), near);
  return select(at_least(x, f64(1)), result, f64(std::numeric_limits<double>::quiet_NaN()));
}

ExprRef atanh_f64(const ExprRef& x) {
  const ExprRef a = magnitude(x);
  return with_sign_of(x, log1p_f64((a + a) / (f64(1) - a)) * f64(0.5));
}

}  // namespace tenon::kernel
