// Masks that say what causal attention sees: 0, or another mask, where key j is at most as late as
// query i and inside its window, and -inf elsewhere, built from ranges and comparisons.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace tenon::fuse {

struct CausalMask {
  int64_t window = 0;      // 0: none
  graph::Value rest = {};  // what is added where a key is seen; may be absent
};

std::optional<CausalMask> as_causal_mask(graph::Value mask, const Dim& queries, const Dim& keys);

}  // namespace tenon::fuse
