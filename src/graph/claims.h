// What a backend takes as it is. Fusion makes only ops that it takes, and legalization makes
// primitives of the others.
#pragma once

#include <functional>
#include <string>

#include "graph/node.h"

namespace tenon::graph {

struct Claims {
  std::string backend = "any";  // as messages call it
  std::function<bool(const Node& node)> takes = [](const Node&) { return true; };
};

}  // namespace tenon::graph
