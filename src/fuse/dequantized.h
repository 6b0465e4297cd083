// Weights of few bits.
#pragma once

#include "graph/graph.h"

namespace tenon::fuse {

// Whether a weight is bytes, cast, shifted and scaled. A linear keeps the bytes and computes the
// rest where it reads them.
bool is_dequantized(graph::Value weight);

}  // namespace tenon::fuse
