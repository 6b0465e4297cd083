// Slice: bounds and steps that are attributes, known operands, or only known at run time.
#include <algorithm>

#include "graph/slice_range.h"
#include "import/onnx/importers.h"
#include "import/onnx/run_time_shapes.h"

namespace tenon::onnx {
namespace {

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
    const std::optional<graph::SliceRange> range =
        graph::slice_range((*cuts.starts)[i], (*cuts.ends)[i], (*cuts.steps)[i], extents[axis]);
    if (!range) return {};
    starts[axis] = range->start;
    extents[axis] = range->extent;
    steps[axis] = range->step;
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
