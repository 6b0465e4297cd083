// What a run need not compute: nodes whose values depend on parameters and constants only.
#pragma once

#include <span>
#include <unordered_set>

#include "graph/graph.h"

namespace tenon::graph {

using FixedNodes = std::unordered_set<const Node*>;
FixedNodes fixed_nodes(std::span<const Node* const> order);  // operands before users

}  // namespace tenon::graph
