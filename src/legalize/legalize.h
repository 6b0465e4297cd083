// What must hold before lowering, beside that every op is one that the backend has (dispatch.h):
// every output is a value of its own, what the executor reads itself is dense, and no kernel joins
// many parts.
#pragma once

#include "graph/graph.h"

namespace tenon::legalize {

// An output that is an input, a parameter, a constant or an earlier output becomes a copy.
graph::Graph separate_outputs(const graph::Graph& graph);

// Operands of host steps (define, if, loop) that have no dense memory of their own become copies:
// known Dims, and inputs whose capacity may exceed their extents.
graph::Graph separate_host_operands(const graph::Graph& graph);

// A kernel looks for each element of a concat at every part, so one of many parts would take their
// number squared, to compile and to run: it becomes a concat of concats.
graph::Graph nest_concats(const graph::Graph& graph);

}  // namespace tenon::legalize
