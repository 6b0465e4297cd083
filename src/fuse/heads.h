// Heads of attention: split off on an axis of their own, repeated for groups of queries, packed
// again.
#pragma once

#include <array>
#include <optional>

#include "fuse/match.h"

namespace tenon::fuse {

using Permutation = std::array<int64_t, 4>;
inline constexpr Permutation kHeadsFirst = {0, 2, 1, 3};  // [batch, heads, length, dim]
inline constexpr Permutation kTransposed = {0, 2, 3, 1};  // [batch, heads, dim, length]

bool equal(const Dim& a, const Dim& b);  // provably
bool is_transpose(const graph::Node& node, const Permutation& perm);

// A value [batch, length, heads, dim] seen through transposes and scalings.
struct Heads {
  graph::Value split;
  double scale = 1;
  int64_t group = 1;  // so many in a row are the same head
  const Dim& batch() const { return split.shape()[0]; }
  const Dim& length() const { return split.shape()[1]; }
  const Dim& heads() const { return split.shape()[2]; }  // different ones
  const Dim& dim() const { return split.shape()[3]; }
};

double strip_scale(graph::Value& value);  // the factor of the scalings that it looks through
// Undoes the transposes below `value`, which together must be `expected`, and the copies of heads.
std::optional<Heads> split_heads(graph::Value value, const Permutation& expected);

// [batch, length, heads * dim] of [batch, length, heads, dim]: what was reshaped to split the
// heads, where it has this shape already.
graph::Value packed_heads(const Site& site, graph::Value split);

}  // namespace tenon::fuse
