// The text of one attribute, as in that of a graph.
#pragma once

#include <string>

#include "graph/attributes.h"

namespace tenon::graph {

std::string print(const AttributeValue& value);

}  // namespace tenon::graph
