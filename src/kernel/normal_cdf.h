// The distribution function of the normal distribution, for gelu.
#pragma once

#include "kernel/expr.h"

namespace tenon::kernel {

// (1 + erf(x / sqrt(2))) / 2 of an f32, in ops that every generator has, within an absolute error
// of 2^-23. At least what it is at -7, which is 1e-12.
ExprRef normal_cdf(const ExprRef& x);

}  // namespace tenon::kernel
