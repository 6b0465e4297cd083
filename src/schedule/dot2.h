// Contractions by dot products of pairs, for machines that multiply two bf16 at once.
#pragma once

#include "kernel/kernel.h"

namespace tenon::schedule {

// A lowered kernel whose contractions of bf16 operands (sums in f32) go by pairs of k: reduce_dot2
// in place of reduce_fma. Another numerics class: both products of a step are added one after the
// other, and denormal numbers are zeros. Other contractions, and those whose left operand is a
// weight (convolutions), stay as they are.
kernel::Kernel with_dot2(const kernel::Kernel& lowered);

// Whether a scheduled kernel runs only where the CPU has such products.
bool has_dot2(const kernel::Kernel& scheduled);

}  // namespace tenon::schedule
