// A graph with values in the place of its symbols.
#pragma once

#include "graph/bind.h"

namespace tenon::graph {

// Every symbol of the inputs gets its value; shapes, attributes that carry extents, and bodies
// follow. A symbol without a value, a value for none, one outside its bounds or against a
// constraint is a User error. Symbols that steps define stay. Parameters keep their data.
Graph specialize(const Graph& graph, const SymbolTable& values);

}  // namespace tenon::graph
