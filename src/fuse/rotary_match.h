// Rotary positions found in a graph, and the op built of them.
#pragma once

#include <optional>

#include "fuse/heads.h"

namespace tenon::fuse {

struct Turn {
  graph::Value x;  // [batch, length, heads, dim], or [batch, heads, length, dim]
  graph::Value cos, sin;
  int64_t pairs;
  bool interleaved = false;
  bool twice = false;  // the tables have all angles, then all of them again
  bool heads_first = false;
  Shape result = {};  // of the node that is replaced
};

// x * cos + concat(-second half, first half) * sin
std::optional<Turn> match_rotated_half(const graph::Node& node);
// Finds which axis of x has the heads: that which the tables do not depend on. False: none.
bool place_heads(Turn& turn);
graph::Value build_rotary(const Site& site, const Turn& turn);

}  // namespace tenon::fuse
