// Takes apart an rms norm that only linears read. What it multiplies rows by becomes their row
// scale; what it multiplies columns by goes into their weights, once per set of weights. So the
// normalized copy of x is never written.
#include <algorithm>

#include "fuse/fuse.h"
#include "fuse/match.h"
#include "graph/fixed_nodes.h"
#include "graph/linear_parts.h"

namespace tenon::fuse {
namespace {

using graph::LinearParts;
using graph::Node;
using graph::Op;
using graph::Value;

bool is_linear(Op op) { return op == Op::Linear || op == Op::GatedLinear; }

// The rows' scale has the dtype of x, and must not be rounded more than a sum is.
bool can_fold(const Node& norm, const graph::UseLists& uses, const graph::FixedNodes& fixed) {
  const Value value{&norm, 0}, scale = norm.operand(1);
  if (size_of(value.dtype()) < size_of(DType::F32) || value.shape().rank() < 2) return false;
  if (uses.is_output(value) || !fixed.contains(scale.node) || !scale.shape().is_static()) {
    return false;
  }
  return std::ranges::all_of(uses.uses(value), [&](const graph::UseLists::Use& use) {
    if (!is_linear(use.user->op()) || use.operand != 0) return false;
    const LinearParts parts = parts_of(*use.user);
    const auto is_fixed = [&](Value w) { return fixed.contains(w.node) && w.shape().is_static(); };
    return !parts.row_scale && is_fixed(parts.w) && (!parts.up || is_fixed(parts.up));
  });
}

Value row_scale(graph::Graph& g, Value x, double epsilon) {
  const Value mean = g.reduce(Op::ReduceMean, g.mul(x, x), {x.shape().rank() - 1});
  const Value root = g.unary(Op::Sqrt, g.add(mean, g.scalar(x.dtype(), epsilon)));
  return g.unary(Op::Reciprocal, root);
}

struct Folded {
  const Node *linear, *norm;
};

Value build(const Site& site, const Folded& match) {
  graph::Graph& g = site.g;
  const Node &linear = *match.linear, &norm = *match.norm;
  const Value x = site.moved(norm.operand(0)), columns = site.moved(norm.operand(1));
  const Value by_row = row_scale(g, x, norm.attributes().number("epsilon"));
  const auto scaled = [&](Value w) {
    return g.mul(site.moved(w), g.reshape(columns, {columns.shape()[0], 1}));
  };
  const LinearParts parts = parts_of(linear);
  return site.taken(
      parts.up ? g.gated_linear(x, scaled(parts.w), scaled(parts.up), parts.activation, by_row)
               : g.linear(x, scaled(parts.w), site.moved(parts.bias), site.moved(parts.residual),
                          parts.activation, by_row));
}

}  // namespace

graph::Graph fold_row_scale(const graph::Graph& graph, const graph::Claims& claims) {
  const graph::UseLists uses(graph);
  const graph::FixedNodes fixed = fixed_nodes(graph.topological());
  std::unordered_map<const Node*, Folded> matches;
  for (const Node* node : graph.topological()) {
    if (node->op() != Op::RmsNorm || !can_fold(*node, uses, fixed)) continue;
    for (const auto& use : uses.uses({node, 0})) matches[use.user] = {use.user, node};
  }
  return replace_matches(graph, claims, matches, build);
}

}  // namespace tenon::fuse
