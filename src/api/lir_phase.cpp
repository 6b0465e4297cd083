// When each node runs. What partition does in the prologue is what depends on parameters alone and
// has the same extents in every run; outputs are written by every run.
#include "api/lir_state.h"
#include "graph/host_ops.h"

namespace tenon {
namespace {

bool runs_once(const graph::Node& node, const graph::UseLists& uses,
               const std::unordered_map<const graph::Node*, Phase>& phases) {
  if (graph::is_host_op(node.op())) return false;
  for (int i = 0; i < node.result_count(); ++i) {
    if (uses.is_output({&node, i}) || !node.types()[static_cast<size_t>(i)].shape.is_static())
      return false;
  }
  for (const graph::Value& operand : node.operands()) {
    const graph::Op op = operand.op();
    const bool kept = op == graph::Op::Param || op == graph::Op::Constant;
    const bool given = graph::has(op, graph::kLeaf) && !kept;  // by every run
    if (given || phases.at(operand.node) != Phase::Prologue) return false;
  }
  return true;
}

bool is_needed(const graph::Node& node, const graph::UseLists& uses) {
  for (int i = 0; i < node.result_count(); ++i) {
    if (!uses.uses({&node, i}).empty()) return true;
  }
  return node.op() == graph::Op::Define;  // by whatever names its symbols
}

}  // namespace

std::string_view to_string(Phase phase) {
  constexpr std::string_view kNames[] = {"prologue", "steady", "epilogue"};
  return kNames[static_cast<int>(phase)];
}

std::unordered_map<const graph::Node*, Phase> phases_of(const graph::Graph& graph) {
  const graph::UseLists uses(graph);
  std::unordered_map<const graph::Node*, Phase> phases;
  for (const graph::Node* node : graph.topological()) {
    const bool once = graph::has(node->op(), graph::kLeaf) || runs_once(*node, uses, phases);
    phases[node] = once                     ? Phase::Prologue
                   : is_needed(*node, uses) ? Phase::Steady
                                            : Phase::Epilogue;
  }
  // Inputs and parameters that nothing reads are declared all the same.
  for (const auto* leaves : {&graph.inputs(), &graph.params()}) {
    for (const graph::Value& leaf : *leaves) phases.try_emplace(leaf.node, Phase::Prologue);
  }
  return phases;
}

}  // namespace tenon
