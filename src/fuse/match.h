// What the fusion patterns share: reading scalars, looking through a scaling, telling row vectors,
// and replacing the matched nodes. A pass first finds its matches on the graph as it is, with
// indexed uses, then rebuilds the graph once: so what a pattern sees never depends on what was
// replaced before.
#pragma once

#include <cmath>
#include <optional>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "graph/claims.h"
#include "graph/graph.h"

namespace tenon::fuse {

// The one element of a float constant, whatever its rank.
std::optional<double> scalar_constant(graph::Value value);

// Constants of a pattern: equal to within what rounding to their dtype and printed decimals do to
// them.
inline bool close(double a, double b, DType dtype = DType::F32) {
  const double rounding = dtype == DType::BF16 ? 0x1p-8 : dtype == DType::F16 ? 0x1p-11 : 1e-6;
  return std::abs(a - b) <= rounding * std::abs(b);
}

// value * factor: a product or quotient with a scalar constant that does not change the type.
struct Scaled {
  graph::Value value;
  double factor;
};
std::optional<Scaled> as_scaled(graph::Value value);

// The other operand of a binary node; empty where both are `value`.
graph::Value other_operand(const graph::Node& node, graph::Value value);

bool same_shape(const Shape& a, const Shape& b);  // provably
bool reduces_last_axis(const graph::Node& node);  // and no other

// Extents 1, ..., 1, n: broadcasts along the rows of a matrix with n columns.
bool is_row_vector(graph::Value value, const Dim& n);

// The value itself, or what it was cast from, of this dtype; empty where neither has it.
graph::Value uncast(graph::Value value, DType dtype);
// f16 or bf16 that is cast to f32, which is what kernels compute in anyway.
bool is_widened(graph::Value value);

// A pattern from x to the node `last`. Where x was widened by a cast just before and the result is
// only cast back, both casts belong to it: kernels compute in the wider dtype anyway.
struct Narrowed {
  graph::Value x;
  const graph::Node* last;
};
Narrowed narrowed(graph::Value x, const graph::Node* last, const graph::UseLists& uses);

// The nodes still needed where those of `replaced` are computed from the values beside them.
std::unordered_set<const graph::Node*> needed_after(
    const graph::Graph& graph,
    const std::unordered_map<const graph::Node*, std::vector<graph::Value>>& replaced);

// Drops the matches whose `root` is needed all the same; a match has its `inputs()`.
template <typename Match>
void drop_needed(const graph::Graph& graph,
                 std::unordered_map<const graph::Node*, Match>& matches) {
  std::unordered_map<const graph::Node*, std::vector<graph::Value>> replaced;
  for (const auto& [node, match] : matches) replaced[node] = match.inputs();
  const std::unordered_set<const graph::Node*> needed = needed_after(graph, replaced);
  std::erase_if(matches, [&](const auto& item) { return needed.contains(item.second.root); });
}

// Where values of the old graph are in the new one; knows the operands of all nodes visited so far.
class Moved {
 public:
  void note(const graph::Node& node, std::span<const graph::Value> operands);
  graph::Value operator()(graph::Value old) const;  // must be known; empty stays empty

 private:
  FlatMap<graph::Value, graph::Value> values_;
};

// The place where a replacement is built; rebuild gives what is built there the node's origin.
struct Site {
  graph::Graph& g;
  const Moved& moved;
  const graph::Claims& claims;

  // The fused value where the backend takes it; else empty, and the match stays written out.
  graph::Value taken(graph::Value fused) const {
    return claims.takes(*fused.node) ? fused : graph::Value{};
  }
  graph::Value vector(graph::Value old) const;  // a row vector of the old graph, with rank 1
};

// Rebuilds the graph with `build(site, match)` in place of each node that has a match; where that
// is empty the node stays.
template <typename Match, typename Build>
graph::Graph replace_matches(const graph::Graph& graph, const graph::Claims& claims,
                             const std::unordered_map<const graph::Node*, Match>& matches,
                             const Build& build) {
  if (matches.empty()) return graph;
  Moved moved;
  auto rewrite = [&](graph::Graph& g, const graph::Node& node,
                     std::span<const graph::Value> operands) {
    moved.note(node, operands);
    std::vector<graph::Value> replacement;
    auto match = matches.find(&node);
    if (match == matches.end()) return replacement;
    if (const graph::Value fused = build(Site{g, moved, claims}, match->second))
      replacement.push_back(fused);
    return replacement;
  };
  return graph::rebuild(graph, rewrite);
}

}  // namespace tenon::fuse
