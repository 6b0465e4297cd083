#include "graph/host_ops.h"

#include <algorithm>

namespace tenon::graph {

std::vector<Dim> defining_dims(const Node& node) {
  if (node.op() == Op::Custom) return {};  // it says before it runs what it will give
  return node.attributes().dims(node.op() == Op::Define ? "symbols" : "extents");
}

bool calls_custom(const Node& node) {
  if (node.op() == Op::Custom) return true;
  return std::ranges::any_of(node.attributes().items(), [](const auto& item) {
    const auto* body = std::get_if<Subgraph>(&item.second);
    return body != nullptr && calls_custom(**body);
  });
}

bool calls_custom(const Graph& graph) {
  return std::ranges::any_of(graph.topological(),
                             [](const Node* node) { return calls_custom(*node); });
}

}  // namespace tenon::graph
