// From a graph for a bucket, whose extent is a constant all over it, to one that serves every
// extent up to it: the constant becomes a symbol (types/active_extent.h), and shapes are derived
// anew.
//
// A constant of the bucket's size is the bucket's where the graph fits no other way. Where it fits
// both ways, or no way, or the extent may be part of some number, nothing is known, and the graph
// stays as it is. A marked input has the marked axis and no other.
#pragma once

#include "graph/graph.h"
#include "tenon/active_extent.h"

namespace tenon::graph {

using BucketAxes = std::map<std::string, int>;  // the axis of the bucket, by the input's name

// A User error where the input has no such axis, or its extent is no constant.
void check_bucket_axis(const Value& input, int axis);

// One for every input that has an axis of this extent: the marked one, else the first. A User error
// where no input has one, or the marks say another extent.
BucketAxes bucket_axes(const Graph& graph, const BucketAxes& marked, int64_t upper);

struct ActiveGraph {
  Graph graph;                // as it was, where report.fallback says why
  ActiveExtentReport report;  // upper is 0 where no input is marked
};
// Inputs without a mark take part as bucket_axes says, unless a marked one would have to shrink on
// another axis: then they stay whole. Marks of different extents are a User error.
ActiveGraph with_active_extent(const Graph& graph, const BucketAxes& marked);
// No input is marked: these are what bucket_axes says.
ActiveGraph with_guessed_extent(const Graph& graph, const BucketAxes& guessed);

}  // namespace tenon::graph
