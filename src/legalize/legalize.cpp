// See legalize.h.
#include "legalize/legalize.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "graph/host_ops.h"
#include "graph/state.h"

namespace tenon::legalize {

using graph::Node;
using graph::Op;

graph::Graph separate_outputs(const graph::Graph& graph) {
  graph::Graph result = graph;
  std::set<std::pair<const Node*, int>> taken;
  std::vector<graph::Output> outputs = graph.outputs();
  for (graph::Output& output : outputs) {
    if (graph::is_state_output(output)) continue;  // it has the state's memory
    while (graph::has(output.value.op(), graph::kLeaf) || output.value.op() == Op::Define ||
           output.value.op() == Op::Update || output.value.op() == Op::Custom ||
           taken.contains({output.value.node, output.value.result})) {
      output.value = result.reshape(output.value, output.value.shape().dims());
    }
    taken.insert({output.value.node, output.value.result});
  }
  result.set_outputs(std::move(outputs));
  return result;
}

graph::Graph separate_host_operands(const graph::Graph& source) {
  const auto needs_copy = [](const graph::Value& operand) {
    if (operand.op() == Op::Dims || graph::state_of(operand)) return true;
    if (operand.op() != Op::Input) return false;
    const auto& dims = operand.shape().dims();
    return std::any_of(dims.begin() + (dims.empty() ? 0 : 1), dims.end(),
                       [](const Dim& extent) { return !extent.is_const(); });
  };
  return rebuild(source,
                 [&](graph::Graph& g, const Node& node,
                     std::span<const graph::Value> given) -> std::vector<graph::Value> {
                   const bool host = graph::is_host_op(node.op());
                   if (!host || std::ranges::none_of(given, needs_copy)) return {};
                   std::vector<graph::Value> operands(given.begin(), given.end());
                   for (graph::Value& operand : operands) {
                     if (needs_copy(operand)) operand = g.reshape(operand, operand.shape().dims());
                   }
                   return g.apply_all(node.op(), std::move(operands), node.attributes());
                 });
}

namespace {

constexpr size_t kMostParts = 16;  // of a concat

// So that all concats of a nest have about as many parts.
size_t parts_of_each(size_t count) {
  size_t parts = count;
  for (double levels = 2; parts > kMostParts; ++levels)
    parts = static_cast<size_t>(std::ceil(std::pow(static_cast<double>(count), 1 / levels)));
  return parts;
}

graph::Value nested(graph::Graph& g, std::vector<graph::Value> parts, int64_t axis) {
  const size_t each = parts_of_each(parts.size());
  while (parts.size() > each) {
    std::vector<graph::Value> joined;
    for (auto rest = std::span(parts); !rest.empty();) {
      const auto group = rest.first(std::min(each, rest.size()));
      joined.push_back(group.size() == 1 ? group[0] : g.concat({group.begin(), group.end()}, axis));
      rest = rest.subspan(group.size());
    }
    parts = std::move(joined);
  }
  return g.concat(std::move(parts), axis);
}

}  // namespace

graph::Graph nest_concats(const graph::Graph& source) {
  return rebuild(
      source,
      [](graph::Graph& g, const Node& node,
         std::span<const graph::Value> parts) -> std::vector<graph::Value> {
        if (node.op() != Op::Concat || parts.size() <= kMostParts) return {};
        return {nested(g, {parts.begin(), parts.end()}, node.attributes().integer("axis"))};
      });
}

}  // namespace tenon::legalize
