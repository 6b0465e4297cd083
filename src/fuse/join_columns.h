// Matrices side by side.
#pragma once

#include "graph/graph.h"

namespace tenon::fuse {

// Their concatenation along the last axis. The arithmetic that all of them are made by is done
// after it: weights of bytes with scales are then bytes with scales again, which panels keep, not a
// choice among floats.
graph::Value join_columns(graph::Graph& g, const std::vector<graph::Value>& parts);

}  // namespace tenon::fuse
