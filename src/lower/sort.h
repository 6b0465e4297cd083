// Sorting inside a kernel: positions 0 .. n-1 of a line, in the order of what lies there.
#pragma once

#include "lower/region.h"

namespace tenon::lower {

// Whether position a comes before b, strictly; what must be computed for it goes to `before`.
using Precedes = std::function<kernel::ExprRef(const Dim& a, const Dim& b, kernel::Block& before)>;

struct Sorted {
  kernel::Block statements;
  // The position in place i, once `start` is known: a let after the statements.
  kernel::Stmt start;
  std::function<kernel::ExprRef(const Dim& place)> at;
};

// Bottom-up merge sort, stable: runs of 1, 2, 4, ... positions are merged between two halves of
// scratch memory.
Sorted merge_sort(Region& region, const Dim& n, const Precedes& precedes);

// Numbers in ascending order; NaN is more than everything else.
kernel::ExprRef is_less(const kernel::ExprRef& a, const kernel::ExprRef& b);

}  // namespace tenon::lower
