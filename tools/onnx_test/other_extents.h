// A second set of extents for a case whose inputs have free ones: what may change together, and the
// inputs at those extents.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/onnx_test/device.h"

namespace tenon::onnx_test {

// All axes, those of one extent, or one axis.
struct ExtentChange {
  int64_t factor, more;
  bool ones = true;  // those of 1 stay, for they broadcast
  std::optional<int64_t> of_extent = {};
  std::optional<std::pair<std::string, size_t>> of_axis = {};

  int64_t operator()(const std::string& input, size_t axis, int64_t extent) const;
};

// What to try, most first: all extents together, then fewer, where only some may change.
std::vector<ExtentChange> extent_changes(const graph::Graph& g, const Inputs& inputs);
// Empty where nothing changes.
Inputs at_other_extents(const graph::Graph& g, const Inputs& inputs, const ExtentChange& change);

}  // namespace tenon::onnx_test
