// Binding: the values of a graph's symbols, found from the shapes of its inputs and checked against
// bounds and constraints.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace tenon::graph {

using SymbolTable = std::map<std::string, int64_t>;

// Extents that are plain symbols give their values first; an expression with one unknown symbol
// left is solved for it; all others are checked. `shapes` has a row for each input, and for each
// parameter that got its data at run time. Symbols in `known` have their values from elsewhere;
// those that steps define have none yet.
SymbolTable bind_symbols(const Graph& graph,
                         const std::map<std::string, std::vector<int64_t>>& shapes,
                         SymbolTable known = {});

// The value of a symbol that a step has defined: bounds and the constraints that it decides are
// checked.
void define_symbol(const Graph& graph, const Symbol& symbol, int64_t value, SymbolTable& table);

// As a lookup function; the table must outlive it.
SymbolValues values_of(const SymbolTable& table);

}  // namespace tenon::graph
