// Rows that are quantized by what they hold: the scale of a row comes from a reduction of it, and
// is read again where products of the row are made real numbers. One kernel makes both, and reads
// the row once from memory.
#pragma once

#include <unordered_set>

#include "fuse/fuse.h"

namespace tenon::fuse {

// Finds roots that are elementwise in a stored x and in one scale of its rows, elementwise in one
// reduction of x along the last axis: the scale becomes the root's row scale, and the reduction is
// not stored.
void join_row_scales(const graph::Graph& graph, const graph::UseLists& uses,
                     const std::unordered_set<const graph::Node*>& constants, Regions& regions);

}  // namespace tenon::fuse
