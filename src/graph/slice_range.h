// start:end:step of an axis as NumPy and ONNX mean it: bounds count from the end where negative and
// are clamped to the axis. Each bound is an expression, so table[0:seq] of 512 rows has min(seq,
// 512) rows, and where the bounds of seq prove it, seq.
#pragma once

#include <optional>

#include "tenon/dim.h"

namespace tenon::graph {

struct SliceRange {
  Dim start, extent;
  int64_t step = 1;  // within what an axis can have
};

// nullopt where a bound may count from the end or not. A step of 0 is a User error.
std::optional<SliceRange> slice_range(const Dim& start, const Dim& end, int64_t step,
                                      const Dim& extent);

}  // namespace tenon::graph
