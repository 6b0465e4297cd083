// Finds layer_norm where an exporter wrote it out: d = x - mean(x), d / sqrt(mean(d * d) + eps) *
// scale + bias, with factors grouped and operands ordered in any way. Each square root that is a
// standard deviation is followed until the bias is added. The matches of a square root that other
// uses keep alive are dropped: the statistics would be computed twice.
#include "fuse/deviation.h"
#include "fuse/fuse.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Op;
using graph::Value;

struct Match {
  Value x, scale, bias;
  double epsilon = 0;
  const Node* root = nullptr;  // the square root
  std::vector<Value> inputs() const { return {x, scale, bias}; }
};

using Matches = std::unordered_map<const Node*, Match>;

// x where the value is x - mean(x).
Value centred_from(Value value) {
  if (value.op() != Op::Sub) return {};
  Value x = value.node->operand(0);
  return mean_of(value.node->operand(1)) == x ? x : Value{};
}

// Follows all users of a standard deviation to the additions of a bias.
void match_users(const Deviation& d, const graph::UseLists& uses, Matches& matches) {
  Value x = centred_from(d.x);
  if (!x) return;
  follow(d, uses, [&](const Normalized& state, const Node& user) {
    if (user.op() != Op::Add || !state.complete()) return;
    Value bias = other_operand(user, state.value);
    if (!bias || !is_row_vector(bias, d.columns) || !(Value{&user}.type() == x.type())) return;
    if (state.scale.dtype() != x.dtype()) return;
    const Narrowed whole = narrowed(x, &user, uses);
    const Value scale = uncast(state.scale, whole.x.dtype());
    const Value shift = uncast(bias, whole.x.dtype());
    if (scale && shift) {
      matches[whole.last] = {whole.x, scale, shift, d.epsilon, d.root};
    } else {
      matches[&user] = {x, state.scale, bias, d.epsilon, d.root};
    }
  });
}

}  // namespace

graph::Graph fuse_layer_norm(const graph::Graph& graph, const graph::Claims& claims) {
  graph::UseLists uses(graph);
  Matches matches;
  for (const Node* node : graph.topological()) {
    if (const std::optional<Deviation> d = deviation(*node)) match_users(*d, uses, matches);
  }
  drop_needed(graph, matches);
  return replace_matches(graph, claims, matches, [](const Site& site, const Match& m) {
    return site.taken(
        site.g.layer_norm(site.moved(m.x), site.vector(m.scale), site.vector(m.bias), m.epsilon));
  });
}

}  // namespace tenon::fuse
