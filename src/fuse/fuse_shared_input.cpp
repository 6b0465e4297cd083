// Makes one linear of those that read the same input: q, k and v projections, gate and up. One pass
// over x, one larger N, fewer kernels. The weights are concatenated along N and the results are
// slices of the wide one; since weights and biases depend on parameters only, the concatenation is
// prologue work, done once per set of weights. Weights of bytes with scales stay apart: side by
// side they would be floats.
#include <map>
#include <tuple>

#include "fuse/dequantized.h"
#include "fuse/fuse.h"
#include "fuse/match.h"
#include "graph/fixed_nodes.h"
#include "graph/linear_parts.h"

namespace tenon::fuse {
namespace {

using graph::Activation;
using graph::LinearParts;
using graph::Node;
using graph::Op;
using graph::Value;

struct Group {
  std::vector<const Node*> members;
  Value wide = {};  // in the new graph, once built
};

struct Member {
  size_t group;
  int64_t start, columns;  // its part of the wide result
};

// The groups of two and more, in the order of their first members.
std::vector<Group> find_groups(std::span<const Node* const> order) {
  const graph::FixedNodes fixed = fixed_nodes(order);
  using Form = std::tuple<Activation, bool, const Node*, int>;  // with bias, scale of the rows
  std::unordered_map<Value, std::map<Form, size_t>> index;
  std::vector<Group> groups;
  for (const Node* node : order) {
    if (node->op() != Op::Linear) continue;
    LinearParts parts = parts_of(*node);
    if (parts.residual || !parts.w.shape()[1].is_const() || is_dequantized(parts.w)) continue;
    bool weights_fixed =
        fixed.contains(parts.w.node) && (!parts.bias || fixed.contains(parts.bias.node));
    if (!weights_fixed || fixed.contains(parts.x.node)) continue;
    bool has_bias = static_cast<bool>(parts.bias);
    const Form form = {parts.activation, has_bias, parts.row_scale.node, parts.row_scale.result};
    auto [found, added] = index[parts.x].try_emplace(form, groups.size());
    if (added) groups.emplace_back();
    groups[found->second].members.push_back(node);
  }
  std::erase_if(groups, [](const Group& group) { return group.members.size() < 2; });
  return groups;
}

// Weights and biases need no moving: nothing they depend on is replaced, so in the new graph, which
// shares the context, they are the same nodes; and those of later members have not been visited
// yet.
Value build_wide(const Site& site, const Group& group) {
  std::vector<Value> weights, biases;
  LinearParts first = parts_of(*group.members[0]);
  for (const Node* member : group.members) {
    LinearParts parts = parts_of(*member);
    weights.push_back(parts.w);
    if (parts.bias) biases.push_back(parts.bias);
  }
  Value w = site.g.concat(weights, 1);
  Value bias = biases.empty() ? Value{} : site.g.concat(biases, 0);
  return site.taken(site.g.linear(site.moved(first.x), w, bias, {}, first.activation,
                                  site.moved(first.row_scale)));
}

Value build_slice(graph::Graph& g, Value wide, int64_t start, int64_t columns) {
  size_t rank = static_cast<size_t>(wide.shape().rank());
  std::vector<Dim> starts(rank, Dim(0));
  std::vector<Dim> extents = wide.shape().dims();
  starts.back() = start;
  extents.back() = columns;
  return g.slice(wide, starts, extents, std::vector<int64_t>(rank, 1));
}

}  // namespace

graph::Graph fuse_shared_input(const graph::Graph& graph, const graph::Claims& claims) {
  std::vector<Group> groups = find_groups(graph.topological());
  std::unordered_map<const Node*, Member> members;
  for (size_t i = 0; i < groups.size(); ++i) {
    int64_t start = 0;
    for (const Node* node : groups[i].members) {
      int64_t columns = node->operand(1).shape()[1].const_value();
      members[node] = {i, start, columns};
      start += columns;
    }
  }
  return replace_matches(graph, claims, members, [&](const Site& site, const Member& member) {
    Group& group = groups[member.group];
    if (!group.wide) group.wide = build_wide(site, group);
    return group.wide ? build_slice(site.g, group.wide, member.start, member.columns) : Value{};
  });
}

}  // namespace tenon::fuse
