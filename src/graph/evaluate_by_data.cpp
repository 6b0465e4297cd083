// Evaluation of movement whose targets are data: each reads its operand, checks every number in it,
// and then moves elements as the op with known extents does.
#include <algorithm>

#include "graph/indexing.h"

namespace tenon::graph::evaluators {

namespace {

Error bad_target(const Evaluation& e, std::span<const int64_t> target) {
  return user_error("[{}] [{}] cannot become [{}]", info(e.node.op()).text,
                    fmt::join(e.operand(0).shape, ", "), fmt::join(target, ", "));
}

// 0 keeps the extent at its place unless `exact`; one -1 is what is left over.
Extents reshaped(const Evaluation& e, bool exact) {
  const Extents& from = e.operand(0).shape;
  const Extents target = to_integers(e.operand(1));
  Extents shape = target;
  int64_t others = 1;
  size_t free = shape.size();
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !exact) {
      if (i >= from.size()) throw bad_target(e, target);
      shape[i] = from[i];
    }
    if (shape[i] == -1 && free == shape.size()) {
      free = i;
      shape[i] = 1;
    }
    if (shape[i] < 0) throw bad_target(e, target);
  }
  others = element_count(shape);
  const int64_t count = e.operand(0).elements();
  if (free < shape.size()) {
    if (others == 0) throw bad_target(e, target);
    shape[free] = count / others;
  }
  if (element_count(shape) != count) throw bad_target(e, target);
  return shape;
}

Extents squeezed(const Evaluation& e) {
  Extents shape = e.operand(0).shape;
  Extents axes = axes_from(e, 1, static_cast<int64_t>(shape.size()));
  std::ranges::sort(axes, std::greater());
  for (const int64_t axis : axes) {
    if (shape[static_cast<size_t>(axis)] != 1) {
      throw user_error("[{}] axis {} of [{}] has not the extent 1", info(e.node.op()).text, axis,
                       fmt::join(e.operand(0).shape, ", "));
    }
    shape.erase(shape.begin() + axis);
  }
  return shape;
}

Extents unsqueezed(const Evaluation& e) {
  Extents shape = e.operand(0).shape;
  Extents axes = axes_from(e, 1, static_cast<int64_t>(shape.size()) + e.operand(1).elements());
  std::ranges::sort(axes);
  for (const int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
  return shape;
}

struct Steps {
  int64_t start = 0, extent = 0, step = 1;
};

// Both bounds count from the end where negative, and are clamped to the axis.
Steps clamped(int64_t start, int64_t end, int64_t step, int64_t extent) {
  constexpr int64_t kFar = int64_t{1} << 62;
  if (step == 0) throw user_error("[slice_to] a step is 0");
  if (extent == 0) return {};
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (step > 0) {
    start = std::clamp<int64_t>(start, 0, extent);
    end = std::clamp<int64_t>(end, 0, extent);
    return {start, end > start ? (end - start - 1) / step + 1 : 0, step};
  }
  step = std::max(step, -kFar);
  start = std::clamp<int64_t>(start, 0, extent - 1);
  end = std::clamp<int64_t>(end, -1, extent - 1);
  return {start, start > end ? (start - end - 1) / -step + 1 : 0, step};
}

}  // namespace

Results define(const Evaluation& e) { return {e.operand(0)}; }

Results reshape_to(const Evaluation& e) {
  const std::string& mode = e.attributes().text("mode");
  Tensor result = e.operand(0);
  result.shape = mode == "squeeze"     ? squeezed(e)
                 : mode == "unsqueeze" ? unsqueezed(e)
                                       : reshaped(e, mode == "exact");
  return {std::move(result)};
}

Results expand_to(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Extents target = to_integers(e.operand(1));
  element_count(target);  // none is negative
  Extents shape = broadcast_extents(Op::ExpandTo, x.shape, target);
  const std::vector<int64_t> at = spread_offsets(x.shape, shape);
  return {pick(x, std::move(shape), at)};
}

Results slice_to(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Extents starts = to_integers(e.operand(1)), ends = to_integers(e.operand(2));
  const Extents axes = axes_from(e, 3, static_cast<int64_t>(x.shape.size()));
  const Extents steps = to_integers(e.operand(4));
  if (starts.size() != axes.size() || ends.size() != axes.size() || steps.size() != axes.size()) {
    throw user_error("[slice_to] {} starts, {} ends, {} axes and {} steps", starts.size(),
                     ends.size(), axes.size(), steps.size());
  }
  Extents shape = x.shape, strides = row_major_strides(x.shape);
  int64_t first = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(axes[i]);
    const Steps range = clamped(starts[i], ends[i], steps[i], x.shape[axis]);
    shape[axis] = range.extent;
    first += range.start * strides[axis];
    strides[axis] = range.extent > 1 ? strides[axis] * range.step : 0;
  }
  const std::vector<int64_t> at = offsets(shape, strides, first);
  return {pick(x, std::move(shape), at)};
}

}  // namespace tenon::graph::evaluators
