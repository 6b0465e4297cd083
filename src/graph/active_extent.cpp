// See active_extent.h: the bucket's axes of inputs, and what is said of them.
#include "graph/active_extent.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "graph/active_inputs.h"
#include "graph/state.h"
#include "types/active_extent.h"

namespace tenon::graph {
namespace {

int first_axis_of(const Shape& shape, int64_t extent) {
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (shape[axis].is_const(extent)) return axis;
  }
  return -1;
}

int64_t marked_extent(const Graph& graph, const BucketAxes& marked) {
  int64_t upper = 0;
  std::string first;
  for (const Value& input : graph.inputs()) {
    const auto mark = marked.find(input.node->name());
    if (mark == marked.end()) continue;
    const int64_t extent = input.shape()[mark->second].const_value();
    if (upper != 0 && extent != upper) {
      throw user_error(
          "[compile] the bucket axes of inputs \"{}\" and \"{}\" have different extents, {} and {}",
          first, mark->first, upper, extent);
    }
    upper = extent;
    first = mark->first;
  }
  return upper;
}

void describe(const Graph& graph, ActiveExtentReport& report) {
  for (const Value& input : graph.inputs()) {
    std::vector<int> axes;
    for (int axis = 0; axis < input.shape().rank(); ++axis) {
      if (is_active(input.shape()[axis])) axes.push_back(axis);
    }
    if (!axes.empty()) report.inputs.push_back({input.node->name(), axes});
  }
  for (const Output& output : graph.outputs()) {
    report.outputs.push_back(
        {output.name, output.value.type().to_string(), is_active(output.value.shape())});
  }
}

ActiveGraph derived(const Graph& graph, const BucketAxes& marked, const BucketAxes& guessed,
                    int64_t upper) {
  ActiveGraph result{graph, {.upper = upper}};
  Attempt attempt = ActiveInputs(graph, active_extent(upper), marked, guessed).settle();
  if (upper < 2) {
    attempt.graph.reset();
    attempt.why_not = "there is nothing to shrink";
  }
  if (attempt.graph) {
    result.graph = std::move(*attempt.graph);
  } else {
    result.report.fallback = attempt.why_not;
    BucketAxes axes = marked;
    axes.insert(guessed.begin(), guessed.end());
    for (const auto& [name, axis] : axes) result.report.inputs.push_back({name, {axis}});
  }
  describe(result.graph, result.report);
  return result;
}

}  // namespace

void check_bucket_axis(const Value& input, int axis) {
  const Shape& shape = input.shape();
  if (axis >= 0 && axis < shape.rank() && shape[axis].is_const()) return;
  throw user_error("[input] \"{}\" {}: the bucket axis {} is none of its axes of constant extent",
                   input.node->name(), input.type().to_string(), axis);
}

BucketAxes bucket_axes(const Graph& graph, const BucketAxes& marked, int64_t upper) {
  if (const int64_t extent = marked_extent(graph, marked); extent != 0 && extent != upper) {
    throw user_error("[set_active_extent] upper is {}, but the graph is compiled for {}", upper,
                     extent);
  }
  BucketAxes result = marked;
  std::vector<std::string> inputs;
  for (const Value& input : graph.inputs()) {
    const std::string& name = input.node->name();
    inputs.push_back(fmt::format("\"{}\" {}", name, input.type().to_string()));
    const int axis = first_axis_of(input.shape(), upper);
    if (state_layout(input)) continue;
    if (axis >= 0) result.emplace(name, axis);
  }
  if (result.empty()) {
    throw user_error("[set_active_extent] upper is {}, but no input has this extent: {}", upper,
                     fmt::join(inputs, ", "));
  }
  return result;
}

ActiveGraph with_active_extent(const Graph& graph, const BucketAxes& marked) {
  const int64_t upper = marked_extent(graph, marked);
  if (upper == 0) return {graph, {}};
  BucketAxes guessed = bucket_axes(graph, marked, upper);
  for (const auto& [name, axis] : marked) guessed.erase(name);
  return derived(graph, marked, guessed, upper);
}

ActiveGraph with_guessed_extent(const Graph& graph, const BucketAxes& guessed) {
  const int64_t upper = marked_extent(graph, guessed);
  return upper == 0 ? ActiveGraph{graph, {}} : derived(graph, {}, guessed, upper);
}

}  // namespace tenon::graph
