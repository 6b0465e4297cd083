// Scalar definitions of ops on integers that the loop IR has no op for.
#pragma once

#include "kernel/expr.h"

namespace tenon::lower {

// Of the truncating division; 0 where the divisor is 0.
kernel::ExprRef integer_remainder(const kernel::ExprRef& a, const kernel::ExprRef& b);
// With the sign of the divisor.
kernel::ExprRef integer_mod(const kernel::ExprRef& a, const kernel::ExprRef& b);
// Wraps; negative powers are 0 but for those of 1 and -1.
kernel::ExprRef integer_power(const kernel::ExprRef& base, const kernel::ExprRef& exponent);
// A shift that is negative or not below the width leaves the sign only.
kernel::ExprRef integer_shift(kernel::Op op, const kernel::ExprRef& x, const kernel::ExprRef& by);

}  // namespace tenon::lower
