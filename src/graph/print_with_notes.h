// A graph as text with a comment at the end of each node's line, for texts that say more of a graph
// than what it is.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "graph/graph.h"

namespace tenon::graph {

using NodeNote = std::function<std::string_view(const Node& node)>;
std::string print_with_notes(const Graph& graph, const NodeNote& note);  // parse reads it, too

}  // namespace tenon::graph
