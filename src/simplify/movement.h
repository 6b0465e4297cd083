// Identities of ops that carry attributes (transpose of transpose, slice of slice): small functions
// in a table of names, since the attributes of the result are computed.
#pragma once

#include "graph/graph.h"

namespace tenon::simplify {

// The first identity that applies to the value; empty where none does.
graph::Value move_step(graph::Graph& g, const graph::Value& value);

// The value spread to a type's shape, where it does not have it already.
graph::Value spread_like(graph::Graph& g, const graph::Value& value, const TensorType& type);

}  // namespace tenon::simplify
