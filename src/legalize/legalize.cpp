// See legalize.h.
#include "legalize/legalize.h"

#include <algorithm>
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

}  // namespace tenon::legalize
