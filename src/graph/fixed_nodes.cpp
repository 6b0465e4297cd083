// See fixed_nodes.h.
#include "graph/fixed_nodes.h"

namespace tenon::graph {

FixedNodes fixed_nodes(std::span<const Node* const> order) {
  FixedNodes fixed;
  for (const Node* node : order) {
    bool is_fixed = node->op() == Op::Param || node->op() == Op::Constant;
    if (node->operand_count() > 0 && node->op() != Op::Custom) {
      is_fixed = true;
      for (Value operand : node->operands()) is_fixed &= fixed.contains(operand.node);
    }
    if (is_fixed) fixed.insert(node);
  }
  return fixed;
}

}  // namespace tenon::graph
