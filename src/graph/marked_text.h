// A graph as text with the axes of a bucket that its builder marked: they are no part of the graph,
// but of what is compiled of it.
//   input %x : f32[512, 384] bucket_axis 0
#pragma once

#include <string>
#include <string_view>

#include "graph/active_extent.h"

namespace tenon::graph {

std::string print(const Graph& graph, const BucketAxes& marked);

struct MarkedGraph {
  Graph graph;
  BucketAxes marked;
};
MarkedGraph parse_marked(std::string_view text);  // parse reads it too, and leaves the marks

}  // namespace tenon::graph
