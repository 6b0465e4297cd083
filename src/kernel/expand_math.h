// The functions that expansions are made of, by file. Private to expand_*.cpp. Those named _f64
// take and give f64; `single` says that x holds an f32 and that the result will be rounded to one.
#pragma once

#include "kernel/expand.h"

namespace tenon::kernel {

inline ExprRef f64(double value) { return constant(DType::F64, value); }
// low <= x <= high; NaN comes through: Min and Max give their second operand then.
inline ExprRef within(double low, const ExprRef& x, double high) {
  return pointwise(Op::Min, {number(x, high), pointwise(Op::Max, {number(x, low), x})});
}
// y, which is not negative, with the sign of x.
inline ExprRef with_sign_of(const ExprRef& x, const ExprRef& y) {
  const DType bits = x->dtype == DType::F32 ? DType::U32 : DType::U64;
  const double sign = x->dtype == DType::F32 ? 0x1p31 : 0x1p63;
  return bit_cast(bit_or(bit_cast(y, bits), bit_and(bit_cast(x, bits), sign)), x->dtype);
}

// expand_f32.cpp: those that matter for speed.
ExprRef exp_f32(const ExprRef& x);
ExprRef log_f32(const ExprRef& x);
ExprRef erf_f32(const ExprRef& x);
ExprRef tanh_f32(const ExprRef& x);

// expand_f64.cpp
struct TwoParts {
  ExprRef high, low;
};
ExprRef exp_f64(const ExprRef& x);
ExprRef exp_of_parts(const TwoParts& x);
TwoParts log_parts(const ExprRef& x, bool precise);  // of a positive number
ExprRef log_f64(const ExprRef& x);
ExprRef expm1_f64(const ExprRef& x);
ExprRef log1p_f64(const ExprRef& x);

// expand_hyperbolic.cpp
ExprRef erf_f64(const ExprRef& x);
ExprRef tanh_f64(const ExprRef& x);
ExprRef sinh_f64(const ExprRef& x);
ExprRef cosh_f64(const ExprRef& x);
ExprRef asinh_f64(const ExprRef& x);
ExprRef acosh_f64(const ExprRef& x);
ExprRef atanh_f64(const ExprRef& x);

// expand_trigonometric.cpp
ExprRef sin_f64(const ExprRef& x, bool single);
ExprRef cos_f64(const ExprRef& x, bool single);
ExprRef tan_f64(const ExprRef& x, bool single);
ExprRef asin_f64(const ExprRef& x);
ExprRef acos_f64(const ExprRef& x);
ExprRef atan_f64(const ExprRef& x);

// expand_power.cpp
ExprRef pow_f64(const ExprRef& x, const ExprRef& y, bool single);
ExprRef remainder_f64(const ExprRef& a, const ExprRef& b, bool single);

}  // namespace tenon::kernel
