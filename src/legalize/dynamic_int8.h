// Contractions with weights as products of 8-bit integers. A row of x is divided by its largest
// magnitude / 127 and rounded, when it comes; a column of the weight likewise, once. The integers
// are multiplied and added exactly, in i32, and the sums multiplied by both scales.
#pragma once

#include <span>

#include "graph/graph.h"

namespace tenon::legalize {

// A matmul or a linear, gated or not, of f32, whose weights have two axes and a constant depth.
bool is_quantizable(const graph::Node& node);

graph::Value contraction_by_int8(graph::Graph& g, const graph::Node& node,
                                 std::span<const graph::Value> operands);

}  // namespace tenon::legalize
