// Finds softmax where it was written out: e = exp(x - max(x)), e / sum(e) along one axis, in the
// dtype of x or in a wider one between two casts. In 16 bits every step rounds, which a kernel does
// not: that is left as it is.
#include "fuse/fuse.h"
#include "fuse/match.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Op;
using graph::Value;

struct Match {
  Value x;
  int64_t axis;
};

// The operand of a reduction over `axis` alone; any one axis where it is -1, which it sets.
Value reduced_from(Value value, Op op, int64_t& axis) {
  if (value.op() != op) return {};
  const std::vector<int64_t>& axes = value.node->attributes().integers("axes");
  if (axes.size() != 1 || (axis != -1 && axes[0] != axis)) return {};
  axis = axes[0];
  return value.node->operand(0);
}

std::optional<Match> match_softmax(const Node& node) {
  const DType dtype = node.types()[0].dtype;
  if (node.op() != Op::Div || (dtype != DType::F32 && dtype != DType::F64)) return std::nullopt;
  const Value powers = node.operand(0);
  int64_t axis = -1;
  if (powers.op() != Op::Exp || !(reduced_from(node.operand(1), Op::ReduceSum, axis) == powers)) {
    return std::nullopt;
  }
  const Value shifted = powers.node->operand(0);
  if (shifted.op() != Op::Sub) return std::nullopt;
  const Value x = shifted.node->operand(0);
  if (!(reduced_from(shifted.node->operand(1), Op::ReduceMax, axis) == x)) return std::nullopt;
  return Match{x, axis};
}

}  // namespace

graph::Graph fuse_softmax(const graph::Graph& graph, const graph::Claims& claims) {
  graph::UseLists uses(graph);
  std::unordered_map<const Node*, Match> matches;
  for (const Node* node : graph.topological()) {
    const std::optional<Match> match = match_softmax(*node);
    if (!match) continue;
    const Narrowed whole = narrowed(match->x, node, uses);
    matches[whole.last] = {whole.x, match->axis};
  }
  return replace_matches(graph, claims, matches, [](const Site& site, const Match& m) {
    return site.taken(site.g.softmax(site.moved(m.x), m.axis));
  });
}

}  // namespace tenon::fuse
