// Parts of tensors: slices, positions and NumPy's basic indexing. All of it is one slice of whole
// rank, which is index arithmetic of whoever reads.
#include <algorithm>
#include <optional>

#include "base/error.h"
#include "graph/slice_range.h"
#include "lazy/apply.h"

namespace tenon {
namespace {

using graph::Op;
using lazy::apply;
using lazy::named;
using lazy::wrap_axis;

// start:stop:step of an axis that is walked backwards, by NumPy's rule: a start before the axis
// leaves nothing of it (ONNX has its first element then). nullopt where a bound may be negative or
// not.
std::optional<graph::SliceRange> backward_range(const Slice& slice, const Dim& extent) {
  const auto clamped = [&](const Dim& at) -> std::optional<Dim> {
    if (prove_le(0, at) == Proof::Yes) return min(at, extent - 1);
    if (prove_lt(at, 0) == Proof::Yes) return max(extent + at, -1);
    return std::nullopt;
  };
  const std::optional<Dim> first = slice.start ? clamped(slice.start->dim()) : extent - 1;
  const std::optional<Dim> beyond = slice.stop ? clamped(slice.stop->dim()) : Dim(-1);
  if (!first || !beyond) return std::nullopt;
  constexpr int64_t kFar = int64_t{1} << 40;
  const int64_t step = std::max(slice.step, -kFar);
  return graph::SliceRange{*first, max(ceildiv(*first - *beyond, -step), 0), step};
}

std::optional<graph::SliceRange> forward_range(const Slice& slice, const Dim& extent) {
  const Dim start = slice.start ? slice.start->dim() : Dim(0);
  const Dim stop = slice.stop ? slice.stop->dim() : Dim(int64_t{1} << 60);
  return graph::slice_range(start, stop, slice.step, extent);
}

// What a slice takes of each axis.
struct Cut {
  explicit Cut(const Tensor& x)
      : starts(static_cast<size_t>(x.rank()), 0),
        extents(x.shape().dims()),
        steps(static_cast<size_t>(x.rank()), 1) {}
  std::vector<Dim> starts, extents;
  std::vector<int64_t> steps;
  VariableValues values;

  void take(const char* call, const Tensor& x, int64_t axis, const Slice& slice) {
    const auto at = static_cast<size_t>(axis);
    if (slice.step == 0) throw user_error("[{}] a step is 0", call);
    const auto range =
        slice.step > 0 ? forward_range(slice, extents[at]) : backward_range(slice, extents[at]);
    const auto text = [](const std::optional<Extent>& bound) {
      return bound ? bound->dim().to_string() : std::string();
    };
    if (!range)
      throw user_error("[{}] a bound of axis {} may be negative or not: {}:{} of {}", call, axis,
                       text(slice.start), text(slice.stop), x.type().to_string());
    starts[at] = range->start;
    extents[at] = range->extent;
    steps[at] = range->step;
    for (const auto* bound : {&slice.start, &slice.stop}) {
      if (*bound) lazy::merge(values, (*bound)->values(), call);
    }
  }
  Tensor of(const Tensor& x) const {
    const bool whole = extents == x.shape().dims() &&
                       std::ranges::all_of(starts, [](const Dim& d) { return d.is_const(0); }) &&
                       std::ranges::all_of(steps, [](int64_t s) { return s == 1; });
    if (whole && values.empty()) return x;
    return apply(Op::Slice, {x}, {{"starts", starts}, {"extents", extents}, {"steps", steps}},
                 values);
  }
};

// A position on an axis as the start of a slice of one: negative ones count from the end.
Dim position_of(const Tensor& x, int64_t axis, const Extent& position) {
  const Dim& extent = x.shape()[static_cast<int>(axis)];
  const Dim& at = position.dim();
  const bool from_end = at.bounds().hi < 0;
  const Dim result = from_end ? extent + at : at;
  if (prove_le(0, result) == Proof::No || prove_lt(result, extent) == Proof::No)
    throw user_error("[index] position {} is outside of axis {}: {}", at.to_string(), axis,
                     x.type().to_string());
  return result;
}

// How many axes of x the index names.
int64_t places_in(const std::vector<Index>& index, const Tensor& x) {
  int64_t named = 0, rests = 0;
  for (const Index& each : index) {
    const Place* place = std::get_if<Place>(&each);
    named += !place || *place == Place::All;
    rests += place && *place == Place::Rest;
  }
  if (rests > 1) throw user_error("[index] two places stand for the rest of the axes");
  if (named > x.rank()) throw user_error("[index] {} places for {}", named, x.type().to_string());
  return named;
}

}  // namespace

Tensor Tensor::shrink(const std::vector<std::pair<Extent, Extent>>& ranges) const {
  return named("shrink", [&] {
    if (static_cast<int>(ranges.size()) > rank())
      throw user_error("[shrink] {} ranges for {}", ranges.size(), type().to_string());
    Cut cut(*this);
    for (size_t i = 0; i < ranges.size(); ++i) {
      const auto& [begin, end] = ranges[i];
      const Dim& extent = shape()[static_cast<int>(i)];
      if (prove_le(0, begin.dim()) == Proof::No || prove_le(begin.dim(), end.dim()) == Proof::No ||
          prove_le(end.dim(), extent) == Proof::No)
        throw user_error("[shrink] {}..{} is not inside of axis {}: {}", begin.dim().to_string(),
                         end.dim().to_string(), i, type().to_string());
      cut.starts[i] = begin.dim();
      cut.extents[i] = end.dim() - begin.dim();
      lazy::merge(cut.values, begin.values(), "shrink");
      lazy::merge(cut.values, end.values(), "shrink");
    }
    return cut.of(*this);
  });
}

Tensor Tensor::flip(const std::vector<int64_t>& axes) const {
  return named("flip", [&] {
    Cut cut(*this);
    for (const int64_t given : axes) {
      const int64_t axis = wrap_axis("flip", given, *this);
      if (cut.steps[static_cast<size_t>(axis)] < 0)
        throw user_error("[flip] axis {} is named twice: {}", given, type().to_string());
      cut.take("flip", *this, axis, {.step = -1});
    }
    return cut.of(*this);
  });
}

Tensor Tensor::slice(int64_t axis, const Slice& slice) const {
  return named("slice", [&] {
    Cut cut(*this);
    cut.take("slice", *this, wrap_axis("slice", axis, *this), slice);
    return cut.of(*this);
  });
}

// First a slice of whole rank, then the axes of positions go and new ones come.
Tensor Tensor::index(const std::vector<Index>& index) const {
  return named("index", [&] {
    const int64_t rest = rank() - places_in(index, *this);
    Cut cut(*this);
    std::vector<int> shape;  // axes that stay, -1: a new one
    int axis = 0;
    const auto stay = [&] { shape.push_back(axis++); };
    for (const Index& each : index) {
      if (const Place* place = std::get_if<Place>(&each)) {
        if (*place == Place::NewAxis) shape.push_back(-1);
        if (*place == Place::All) stay();
        for (int64_t i = 0; *place == Place::Rest && i < rest; ++i) stay();
      } else if (const Slice* part = std::get_if<Slice>(&each)) {
        cut.take("index", *this, axis, *part);
        stay();
      } else {
        const Extent& position = std::get<Extent>(each);
        cut.starts[static_cast<size_t>(axis)] = position_of(*this, axis, position);
        cut.extents[static_cast<size_t>(axis)] = 1;
        lazy::merge(cut.values, position.values(), "index");
        ++axis;
      }
    }
    while (axis < rank()) stay();
    const Tensor part = cut.of(*this);
    Extents dims;
    for (const int from : shape) dims.push_back(from < 0 ? Extent(1) : Extent(part.shape()[from]));
    return part.reshape(dims);
  });
}

}  // namespace tenon
