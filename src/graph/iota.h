// 0, 1, ... count - 1 as an i64 vector, symbolic counts too.
#pragma once

#include "graph/graph.h"

namespace tenon::graph {

Value iota(Graph& g, const Dim& count);

}  // namespace tenon::graph
