// What FusionPolicy::Fusable adds: fused ops become the primitives that the passes of `fuse` find
// again. A step of it may leave simpler fused ops, so it is repeated until there are none.
#include "hir/lowering.h"
#include "legalize/decompose_fused.h"

namespace tenon::hir {

graph::Graph as_primitives(const graph::Graph& source) {
  graph::Graph graph = source;
  for (bool changed = true; changed;) {
    changed = false;
    graph = rebuild(graph, [&](graph::Graph& g, const graph::Node& node,
                               std::span<const graph::Value> operands) {
      if (node.op() == graph::Op::Softmax) return Results();  // models write it as one op
      Results results = legalize::decompose_fused(g, node, operands);
      changed = changed || !results.empty();
      return results;
    });
  }
  return graph;
}

}  // namespace tenon::hir
