// Slice: starts and ends count from the end where negative and are clamped to the axis. Each bound
// is an expression, so table[0:seq] of 512 rows has min(seq, 512) rows, and where the bounds of seq
// prove it, seq.
#include "import/onnx/importers.h"

namespace tenon::onnx::importers {
namespace {

constexpr int64_t kFar = int64_t{1}
                         << 40;  // beyond every axis: INT_MAX and INT64_MAX mean "to the end"

// `at` of an axis of `extent`, within least .. extent + most (most is 0 or -1).
Dim clamp(const Dim& at, const Dim& extent, int64_t least, int64_t most) {
  if (at.is_const()) {
    const int64_t value = at.const_value();
    if (value >= kFar) return max(extent + most, least);
    if (value <= -kFar) return Dim(least);
    if (value < 0) return max(extent + value, least);
    return max(min(at, extent + most), least);
  }
  if (prove_le(0, at) == Proof::Yes) return max(min(at, extent + most), least);
  if (prove_lt(at, 0) == Proof::Yes) return max(extent + at, least);
  throw unsupported_error("the bound {} may be negative or not", at.to_string());
}

struct Range {
  Dim start, extent;
};

Range range_of(const Dim& start, const Dim& end, int64_t step, const Dim& extent) {
  if (step == 0) throw user_error("a step is 0");
  if (step > 0) {
    const Dim first = clamp(start, extent, 0, 0), last = clamp(end, extent, 0, 0);
    return {first, max(ceildiv(last - first, step), 0)};
  }
  const Dim first = clamp(start, extent, 0, -1), last = clamp(end, extent, -1, -1);
  return {first, max(ceildiv(first - last, -step), 0)};
}

std::vector<Dim> bounds(Call& call, std::string_view name, int input) {
  if (const auto attribute = call.integers(name)) return {attribute->begin(), attribute->end()};
  return call.dims(call.in(input), name);
}

}  // namespace

Results slice(Call& call) {
  Value x = call.in(0);
  const int rank = x.shape().rank();
  const std::vector<Dim> from = bounds(call, "starts", 1), to = bounds(call, "ends", 2);
  std::vector<int64_t> axes = call.axes(3).value_or(std::vector<int64_t>{});
  if (axes.empty()) {
    for (size_t i = 0; i < from.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  std::vector<int64_t> by(from.size(), 1);
  if (Value steps = call.maybe(4)) by = call.constants(steps, "steps");
  if (to.size() != from.size() || axes.size() != from.size() || by.size() != from.size()) {
    throw user_error("{} starts, {} ends, {} axes and {} steps", from.size(), to.size(),
                     axes.size(), by.size());
  }
  std::vector<Dim> starts(static_cast<size_t>(rank), 0), extents = x.shape().dims();
  std::vector<int64_t> steps(static_cast<size_t>(rank), 1);
  Call::axes_of(axes, rank);  // rejects repeats
  for (size_t i = 0; i < from.size(); ++i) {
    if (by[i] <= -kFar || by[i] >= kFar) throw user_error("step {} is too large", by[i]);
    const auto axis = static_cast<size_t>(Call::axis_of(axes[i], rank));
    const Range range = range_of(from[i], to[i], by[i], extents[axis]);
    starts[axis] = range.start;
    extents[axis] = range.extent;
    steps[axis] = by[i];
  }
  if (extents == x.shape().dims() && std::vector<int64_t>(steps.size(), 1) == steps) return {x};
  return {call.g.slice(x, std::move(starts), std::move(extents), std::move(steps))};
}

}  // namespace tenon::onnx::importers
