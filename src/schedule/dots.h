// Contractions by dot products of groups, for machines that multiply two bf16, or four bytes, at
// once.
#pragma once

#include "kernel/kernel.h"

namespace tenon::schedule {

// A lowered kernel whose contractions of bf16 operands (sums in f32) go by pairs of k: reduce_dot2
// in place of reduce_fma. Another numerics class: both products of a step are added one after the
// other, and denormal numbers are zeros. Other contractions, and those whose left operand is a
// weight (convolutions), stay as they are.
kernel::Kernel with_dot2(const kernel::Kernel& lowered);

// The same of rows of u8 and columns of i8 (sums in i32) by groups of four: reduce_dot4. Integers
// wrap, so the bits stay the same.
kernel::Kernel with_dot4(const kernel::Kernel& lowered);

// Whether a scheduled kernel runs only where the CPU has such products.
bool has_dot2(const kernel::Kernel& scheduled);
bool has_dot4(const kernel::Kernel& scheduled);

}  // namespace tenon::schedule
