// What must hold before lowering, beside that every op is one that the backend has (dispatch.h):
// every output is a value of its own, and what the executor reads itself is dense.
#pragma once

#include "graph/graph.h"

namespace tenon::legalize {

// An output that is an input, a parameter, a constant or an earlier output becomes a copy.
graph::Graph separate_outputs(const graph::Graph& graph);

// Operands of host steps (define, if, loop) that have no dense memory of their own become copies:
// known Dims, and inputs whose capacity may exceed their extents.
graph::Graph separate_host_operands(const graph::Graph& graph);

}  // namespace tenon::legalize
