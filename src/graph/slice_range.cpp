#include "graph/slice_range.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/error.h"

namespace tenon::graph {
namespace {

constexpr int64_t kFar = int64_t{1}
                         << 40;  // beyond every axis: INT_MAX and INT64_MAX mean "to the end"

// `at` of an axis of `extent`, within least .. extent + most (most is 0 or -1); nullopt where it
// may count from the end or not.
std::optional<Dim> clamp(const Dim& at, const Dim& extent, int64_t least, int64_t most) {
  if (at.is_const()) {
    const int64_t value = at.const_value();
    if (value >= kFar) return max(extent + most, least);
    if (value <= -kFar) return Dim(least);
    if (value < 0) return max(extent + value, least);
    return max(min(at, extent + most), least);
  }
  if (prove_le(0, at) == Proof::Yes) return max(min(at, extent + most), least);
  if (prove_lt(at, 0) == Proof::Yes) return max(extent + at, least);
  return std::nullopt;
}

}  // namespace

std::optional<SliceRange> slice_range(const Dim& start, const Dim& end, int64_t step,
                                      const Dim& extent) {
  if (step == 0) throw user_error("a step is 0");
  step = std::clamp(step, -kFar, kFar);  // beyond: one element too
  if (extent.is_const(0)) return SliceRange{0, 0, step};
  const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? 0 : -1;
  const std::optional<Dim> first = clamp(start, extent, 0, most);
  const std::optional<Dim> last = clamp(end, extent, least, most);
  if (!first || !last) return std::nullopt;
  const Dim span = step > 0 ? *last - *first : *first - *last;
  const Dim count = max(ceildiv(span, std::abs(step)), 0);
  return SliceRange{*first, extent.bounds().lo > 0 ? count : min(count, extent), step};
}

}  // namespace tenon::graph
