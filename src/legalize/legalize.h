// What must hold before lowering: every op and dtype is one that the backend has, and every output
// is a value of its own.
#pragma once

#include "graph/graph.h"

namespace tenon::legalize {

// Throws Unsupported, naming the backend and listing every op it cannot run with the origins of the
// nodes.
void check_supported(const graph::Graph& graph);

// An output that is an input, a parameter, a constant or an earlier output becomes a copy.
graph::Graph separate_outputs(const graph::Graph& graph);

}  // namespace tenon::legalize
