// Reductions that one thread does in order, as statements before the value that needs them. Sums
// and contractions go by chunks (kContractionChunk), each with an accumulator of its own; the sums
// of chunks are added left to right.
#pragma once

#include <functional>
#include <string>

#include "kernel/kernel.h"

namespace tenon::schedule {

// What the schedule around them provides.
struct Around {
  kernel::Kernel& kernel;  // gets the accumulators
  std::function<Symbol(const std::string& stem, const Dim& extent)> fresh;
  // What is left of a value whose reductions were put before it.
  std::function<kernel::ExprRef(const kernel::ExprRef& value, kernel::Block& before)> inner;
};

kernel::ExprRef serial_reduction(const kernel::Expr& reduction, kernel::Block& before,
                                 const Around& around);

// Replaces each reduction of a value by what `make` makes of it; a shared one is made once.
kernel::ExprRef replace_reductions(
    const kernel::ExprRef& root,
    const std::function<kernel::ExprRef(const kernel::Expr& reduction)>& make);

}  // namespace tenon::schedule
