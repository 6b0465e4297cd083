// Finds silu where an exporter wrote it out: x * sigmoid(x).
#include "fuse/fuse.h"
#include "fuse/match.h"

namespace tenon::fuse {

using graph::Node;
using graph::Op;
using graph::Value;

graph::Graph fuse_silu(const graph::Graph& graph, const graph::Claims& claims) {
  std::unordered_map<const Node*, Value> matches;
  for (const Node* node : graph.topological()) {
    if (node->op() != Op::Mul) continue;
    for (int i = 0; i < 2; ++i) {
      const Value x = node->operand(i), gate = node->operand(1 - i);
      if (gate.op() == Op::Sigmoid && gate.node->operand(0) == x) matches[node] = x;
    }
  }
  return replace_matches(graph, claims, matches, [](const Site& site, Value x) {
    return site.taken(site.g.unary(Op::Silu, site.moved(x)));
  });
}

}  // namespace tenon::fuse
