// Makes one gated linear of activation(x @ gate) * (x @ up): x is read once, and neither product
// exists in memory. Runs after fuse_linear, so the products are linears, their activations inside.
#include "fuse/fuse.h"
#include "fuse/match.h"
#include "graph/linear_parts.h"

namespace tenon::fuse {
namespace {

using graph::Activation;
using graph::LinearParts;
using graph::Node;
using graph::Op;
using graph::Value;

// A linear that nothing but this product needs, and that is no more than activation(x @ w).
std::optional<LinearParts> branch(Value value, const graph::UseLists& uses) {
  if (value.op() != Op::Linear || !uses.only_user(value)) return std::nullopt;
  const LinearParts parts = parts_of(*value.node);
  if (parts.bias || parts.residual) return std::nullopt;
  return parts;
}

struct Match {
  LinearParts gate, up;
};

std::optional<Match> match_gate(const Node& node, const graph::UseLists& uses) {
  if (node.op() != Op::Mul) return std::nullopt;
  std::optional<LinearParts> gate = branch(node.operand(0), uses);
  std::optional<LinearParts> up = branch(node.operand(1), uses);
  if (!gate || !up) return std::nullopt;
  if (up->activation != Activation::None) std::swap(gate, up);
  if (up->activation != Activation::None || !(gate->x == up->x)) return std::nullopt;
  if (!(gate->row_scale == up->row_scale)) return std::nullopt;
  if (!same_shape(gate->w.shape(), up->w.shape())) return std::nullopt;
  return Match{*gate, *up};
}

}  // namespace

graph::Graph fuse_gated_linear(const graph::Graph& graph, const graph::Claims& claims) {
  graph::UseLists uses(graph);
  std::unordered_map<const Node*, Match> matches;
  for (const Node* node : graph.topological()) {
    if (const std::optional<Match> match = match_gate(*node, uses)) matches[node] = *match;
  }
  return replace_matches(graph, claims, matches, [](const Site& site, const Match& m) {
    return site.taken(site.g.gated_linear(site.moved(m.gate.x), site.moved(m.gate.w),
                                          site.moved(m.up.w), m.gate.activation,
                                          site.moved(m.gate.row_scale)));
  });
}

}  // namespace tenon::fuse
