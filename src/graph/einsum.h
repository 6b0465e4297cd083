// Einstein summation: an equation over the axes of operands, as batched matrix products.
#pragma once

#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tenon::graph {

// "bhqd,bhkd->bhqk"; without an arrow the letters that occur once are the result's. "..." are axes
// that broadcast. Operands have one dtype; an equation that does not fit them is a User error.
Value einsum(Graph& g, std::string_view equation, const std::vector<Value>& operands);

}  // namespace tenon::graph
