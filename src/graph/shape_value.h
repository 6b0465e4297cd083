// Shape values: a small integer tensor that the model computes from shapes carries its elements as
// Dims, so that an exported model's own shape arithmetic stays symbolic and its Reshape and Expand
// targets are known at compile time.
#pragma once

#include <optional>
#include <vector>

#include "graph/node.h"

namespace tenon::graph {

inline constexpr int64_t kShapeValueLimit =
    64;  // elements; larger integer tensors are data, not shapes

// One entry per result, or none at all where nothing is known.
std::vector<std::optional<std::vector<Dim>>> compute_shape_values(const Node& node);

}  // namespace tenon::graph
