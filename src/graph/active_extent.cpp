// See active_extent.h: attempts, each with more places for the bucket's, until one fits.
#include "graph/active_extent.h"

#include <fmt/ranges.h>

#include "base/error.h"
#include "graph/active_derivation.h"
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

// Further places are the bucket's where the graph fits no other way.
Attempt settle(const Graph& graph, const Symbol& active, std::set<Place>& bucket) {
  for (;;) {
    Attempt attempt = Derivation(graph, active, bucket).run();
    if (!attempt.needed) return attempt;
    bucket.insert(*attempt.needed);
  }
}

std::string text(const Place& place, int64_t upper) {
  return fmt::format("[{}] extent {} of axis {} of {} may be the bucket's or not",
                     info(place.node->op()).text, upper, place.axis,
                     place.node->types()[0].to_string());
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
  ActiveGraph result{graph, {.upper = upper}};
  const BucketAxes axes = bucket_axes(graph, marked, upper);
  std::set<Place> bucket;
  for (const Value& input : graph.inputs()) {
    const auto axis = axes.find(input.node->name());
    if (axis != axes.end()) bucket.insert({input.node, axis->second});
  }
  const Symbol active = active_extent(upper);
  Attempt attempt = settle(graph, active, bucket);
  for (const Place& place : attempt.open) {
    if (!attempt.graph) break;
    std::set<Place> other = bucket;
    other.insert(place);
    const Attempt as_bucket = settle(graph, active, other);
    if (!as_bucket.graph && !as_bucket.unknown) continue;
    attempt.graph.reset();
    attempt.why_not = text(place, upper);
  }
  if (upper < 2) {
    attempt.graph.reset();
    attempt.why_not = "there is nothing to shrink";
  }
  if (attempt.graph) {
    result.graph = std::move(*attempt.graph);
  } else {
    result.report.fallback = attempt.why_not;
    for (const auto& [name, axis] : axes) result.report.inputs.push_back({name, {axis}});
  }
  describe(result.graph, result.report);
  return result;
}

}  // namespace tenon::graph
