// Simplification, graph -> graph: what every later stage would otherwise have to see through. Each
// pass is one function in one file of its name; each keeps the numbers, bit for bit but for the
// payload of a NaN.
#pragma once

#include <span>
#include <string_view>

#include "graph/graph.h"
#include "rewrite/rule.h"

namespace tenon::simplify {

// Split becomes slices, so that later stages know one op less.
graph::Graph decompose_split(const graph::Graph& graph);
// Integer nodes whose elements are known Dims become dims or constant leaves.
graph::Graph fold_shape_values(const graph::Graph& graph);
// Ops on constants become constants, up to graph::kConstantLimit bytes. Parameters are never
// folded.
graph::Graph fold_constants(const graph::Graph& graph);
// Local identities: the rules of algebra_rules(), and the movement identities of movement_names().
graph::Graph algebra(const graph::Graph& graph);

// All of the above, again until nothing changes. Dead nodes and unused parameters go.
graph::Graph simplify(const graph::Graph& graph);

struct Pass {
  std::string_view name;
  graph::Graph (*run)(const graph::Graph&);
};
inline constexpr Pass kPasses[] = {
    {"decompose_split", decompose_split},
    {"fold_shape_values", fold_shape_values},
    {"fold_constants", fold_constants},
    {"algebra", algebra},
};

// The tables, for documentation and tests.
std::span<const rewrite::Rule> algebra_rules();
std::vector<std::string_view> movement_names();

}  // namespace tenon::simplify
