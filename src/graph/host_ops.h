// Ops that no kernel computes: the executor does them itself, between kernels. Their operands and
// results lie in memory.
#pragma once

#include "graph/graph.h"

namespace tenon::graph {

constexpr bool is_host_op(Op op) {
  return op == Op::Define || op == Op::If || op == Op::Loop || op == Op::Custom;
}

// Of a host op: symbols among these that have no value before it have one after it.
std::vector<Dim> defining_dims(const Node& node);

// Whether a custom function is called, perhaps in a body.
bool calls_custom(const Node& node);
bool calls_custom(const Graph& graph);

}  // namespace tenon::graph
