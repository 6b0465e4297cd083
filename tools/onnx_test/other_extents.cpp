// See other_extents.h.
#include "tools/onnx_test/other_extents.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

namespace tenon::onnx_test {
namespace {

using graph::Graph;
using graph::Tensor;

bool is_free(const graph::Value& input, size_t axis) {
  return !input.shape()[static_cast<int>(axis)].is_const();
}

// The tensor at other extents: its elements over again, so that integers stay what they may be.
Tensor resized(const Tensor& source, std::span<const int64_t> shape) {
  Tensor result{source.dtype, {shape.begin(), shape.end()}, {}};
  const auto size = static_cast<size_t>(size_of(source.dtype));
  result.bytes.resize(static_cast<size_t>(result.elements()) * size);
  std::vector<int64_t> at(shape.size(), 0);
  for (size_t to = 0; to < result.bytes.size(); to += size) {
    int64_t from = 0;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      from = from * source.shape[axis] + at[axis] % source.shape[axis];
    }
    std::memcpy(&result.bytes[to], &source.bytes[static_cast<size_t>(from) * size], size);
    for (size_t axis = at.size(); axis-- > 0 && ++at[axis] == shape[axis];) at[axis] = 0;
  }
  return result;
}

}  // namespace

int64_t ExtentChange::operator()(const std::string& input, size_t axis, int64_t extent) const {
  const bool other =
      (of_extent && *of_extent != extent) || (of_axis && *of_axis != std::pair(input, axis));
  if (other || extent == 0 || (ones && extent == 1)) return extent;
  return extent * factor + more;
}

std::vector<ExtentChange> extent_changes(const Graph& g, const Inputs& inputs) {
  std::vector<ExtentChange> all = {{1, 1}, {2, 0}, {2, 0, false}, {1, -1}};
  std::vector<ExtentChange> single;
  std::set<int64_t> extents;
  for (const graph::Value& input : g.inputs()) {
    const std::string& name = input.node->name();
    const std::vector<int64_t>& shape = inputs.at(name).shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (!is_free(input, axis)) continue;
      extents.insert(shape[axis]);
      for (const int64_t more : {1, -1}) single.push_back({1, more, false, {}, {{name, axis}}});
    }
  }
  for (const int64_t extent : extents) all.push_back({2, 0, false, extent, {}});
  std::ranges::move(single, std::back_inserter(all));
  return all;
}

Inputs at_other_extents(const Graph& g, const Inputs& inputs, const ExtentChange& change) {
  Inputs result;
  bool changed = false;
  for (const graph::Value& input : g.inputs()) {
    const Tensor& given = inputs.at(input.node->name());
    std::vector<int64_t> shape = given.shape;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      if (is_free(input, axis)) shape[axis] = change(input.node->name(), axis, shape[axis]);
    }
    changed |= shape != given.shape;
    result[input.node->name()] = resized(given, shape);
  }
  return changed ? result : Inputs();
}

}  // namespace tenon::onnx_test
