// A graph with every fused op written out, down to primitives.
#pragma once

#include "legalize/decompose_fused.h"

namespace tenon::legalize {

inline graph::Graph taken_apart(graph::Graph graph) {
  for (bool changed = true; changed;) {
    changed = false;
    graph = rebuild(graph, [&](graph::Graph& g, const graph::Node& node,
                               std::span<const graph::Value> operands) {
      std::vector<graph::Value> results = decompose_fused(g, node, operands);
      changed = changed || !results.empty();
      return results;
    });
  }
  return graph;
}

}  // namespace tenon::legalize
