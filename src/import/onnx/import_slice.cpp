// Slice: starts and ends count from the end where negative and are clamped to the axis. Each bound
// is an expression, so table[0:seq] of 512 rows has min(seq, 512) rows, and where the bounds of seq
// prove it, seq.
#include <algorithm>

#include "import/onnx/importers.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx {
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

struct Range {
  Dim start, extent;
};

std::optional<Range> range_of(const Dim& start, const Dim& end, int64_t step, const Dim& extent) {
  if (step == 0) throw user_error("a step is 0");
  if (extent.is_const(0)) return Range{0, 0};
  const int64_t least = step > 0 ? 0 : -1, most = step > 0 ? 0 : -1;
  const std::optional<Dim> first = clamp(start, extent, 0, most);
  const std::optional<Dim> last = clamp(end, extent, least, most);
  if (!first || !last) return std::nullopt;
  const Dim span = step > 0 ? *last - *first : *first - *last;
  const Dim count = max(ceildiv(span, std::abs(step)), 0);
  return Range{*first, extent.bounds().lo > 0 ? count : min(count, extent)};
}

// What to take of each axis that is cut, as far as it is known.
struct Cuts {
  std::optional<std::vector<Dim>> starts, ends;
  std::optional<std::vector<int64_t>> axes, steps;
};

// Null where a bound or step is not known.
Value slice_known(graph::Graph& g, Value x, const Cuts& cuts) {
  if (!cuts.starts || !cuts.ends || !cuts.axes || !cuts.steps) return {};
  const int rank = x.shape().rank();
  std::vector<Dim> starts(static_cast<size_t>(rank), 0), extents = x.shape().dims();
  std::vector<int64_t> steps(static_cast<size_t>(rank), 1);
  for (size_t i = 0; i < cuts.axes->size(); ++i) {
    const auto axis = static_cast<size_t>(Call::axis_of((*cuts.axes)[i], rank));
    const int64_t step = std::clamp((*cuts.steps)[i], -kFar, kFar);  // beyond: one element too
    const std::optional<Range> range =
        range_of((*cuts.starts)[i], (*cuts.ends)[i], step, extents[axis]);
    if (!range) return {};
    starts[axis] = range->start;
    extents[axis] = range->extent;
    steps[axis] = step;
  }
  if (extents == x.shape().dims() && std::vector<int64_t>(steps.size(), 1) == steps) return x;
  return g.slice(x, std::move(starts), std::move(extents), std::move(steps));
}

std::vector<int64_t> ones(const Dim& count) {
  return std::vector<int64_t>(static_cast<size_t>(count.const_value()), 1);
}

// The attribute (older opsets) or the operand; null where neither is given.
Value numbers(Call& call, std::string_view name, int input) {
  if (auto attribute = call.integers(name)) return call.g.integers(*std::move(attribute));
  return call.maybe(input);
}

}  // namespace

Value slice_to(graph::Graph& g, Value x, Value starts, Value ends, Value axes, Value steps) {
  const int rank = x.shape().rank();
  const Dim count = vector_extent(starts, "starts");
  if (!axes) axes = iota(g, count);
  if (!steps) steps = count.is_const() ? g.integers(ones(count)) : g.expand(g.dims({1}), {count});
  for (const auto& [list, what] : {std::pair(ends, "ends"), {axes, "axes"}, {steps, "steps"}}) {
    const Dim given = vector_extent(list, what);
    if (prove_equal(given, count) != Proof::No) continue;
    throw user_error("{} starts and {} {}", count.to_string(), given.to_string(), what);
  }
  const Cuts cuts{shape_value(starts), shape_value(ends), known_integers(axes),
                  known_integers(steps)};
  if (cuts.axes) Call::axes_of(*cuts.axes, rank);  // rejects repeats
  if (Value result = slice_known(g, x, cuts)) return result;
  std::vector<Dim> dims = x.shape().dims();
  for (int i = 0; i < rank; ++i) {
    const auto is_i = [&](int64_t axis) { return Call::axis_of(axis, rank) == i; };
    if (cuts.axes && std::ranges::none_of(*cuts.axes, is_i)) continue;
    Dim& extent = dims[static_cast<size_t>(i)];
    extent = g.fresh_symbol("slice", {0, extent.bounds().hi});
  }
  return g.apply(Op::SliceTo, {x, starts, ends, axes, steps}, {{"shape", std::move(dims)}});
}

namespace importers {

Results slice(Call& call) {
  const Value starts = numbers(call, "starts", 1), ends = numbers(call, "ends", 2);
  if (!starts || !ends) throw user_error("it has no starts or no ends");
  const Value axes = numbers(call, "axes", 3);
  return {slice_to(call.g, call.in(0), starts, ends, axes, call.maybe(4))};
}

}  // namespace importers
}  // namespace tenon::onnx
