// Finds rms_norm where an exporter wrote it out: x / sqrt(mean(x * x) + eps) * scale, with factors
// grouped and operands ordered in any way, in the dtype of x or in a wider one between two casts.
// The matches of a square root that other uses keep alive are dropped: the statistics would be
// computed twice.
#include "fuse/deviation.h"
#include "fuse/fuse.h"

namespace tenon::fuse {
namespace {

using graph::Node;
using graph::Value;

struct Match {
  Value x, scale;
  double epsilon = 0;
  const Node* root = nullptr;  // the square root
  std::vector<Value> inputs() const { return {x, scale}; }
};

using Matches = std::unordered_map<const Node*, Match>;

// The x of the dtype of the result: as it is, or as it was before it was widened.
Value x_like(const Deviation& d, Value result) {
  if (d.x.type() == result.type()) return d.x;
  const Value narrow = uncast(d.x, result.dtype());
  return narrow && narrow.type() == result.type() ? narrow : Value{};
}

void match_users(const Deviation& d, const graph::UseLists& uses, Matches& matches) {
  follow(d, uses, [&](const Normalized& state, const Node& user) {
    Normalized next = state;
    if (state.complete() || !advance(next, user, d) || !next.complete()) return;
    const Narrowed whole = narrowed(d.x, &user, uses);
    const Value x = x_like(d, Value{whole.last});
    const Value scale = x ? uncast(next.scale, x.dtype()) : Value{};
    if (scale) {
      matches[whole.last] = {x, scale, d.epsilon, d.root};
    } else if (d.x.type() == next.value.type() && next.scale.dtype() == d.x.dtype()) {
      matches[&user] = {d.x, next.scale, d.epsilon, d.root};
    }
  });
}

}  // namespace

graph::Graph fuse_rms_norm(const graph::Graph& graph, const graph::Claims& claims) {
  graph::UseLists uses(graph);
  Matches matches;
  for (const Node* node : graph.topological()) {
    if (const std::optional<Deviation> d = deviation(*node)) match_users(*d, uses, matches);
  }
  drop_needed(graph, matches);
  return replace_matches(graph, claims, matches, [](const Site& site, const Match& m) {
    return site.taken(site.g.rms_norm(site.moved(m.x), site.vector(m.scale), m.epsilon));
  });
}

}  // namespace tenon::fuse
