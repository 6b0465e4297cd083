// Fused ops as primitives: what a backend without a kernel for one of them runs instead. One
// function per op, one table (fused_decompositions.def). The fusion passes find these forms again.
#pragma once

#include <span>
#include <vector>

#include "graph/graph.h"

namespace tenon::legalize {

bool is_fused(graph::Op op);  // has a decomposition into primitives

// One step of it: what it is made of may be fused ops again, simpler ones. No results: not a fused
// op.
std::vector<graph::Value> decompose_fused(graph::Graph& g, const graph::Node& node,
                                          std::span<const graph::Value> operands);

namespace fused {
using Decomposition = graph::Value(graph::Graph& g, const graph::Node& node,
                                   std::span<const graph::Value> operands);
#define FUSED(Name, function) Decomposition function;
#include "legalize/fused_decompositions.def"
#undef FUSED
}  // namespace fused

}  // namespace tenon::legalize
