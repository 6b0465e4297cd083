// The table of fused ops, and which of them can be lowered as they are.
#include "legalize/decompose_fused.h"

#include "graph/op_table.h"

namespace tenon::legalize {

using graph::Op;

namespace {

constexpr auto kFused = graph::partial_op_table<fused::Decomposition*>({
#define FUSED(Name, function) {Op::Name, fused::function},
#include "legalize/fused_decompositions.def"
#undef FUSED
});

}  // namespace

bool is_fused(Op op) { return kFused[static_cast<size_t>(op)] != nullptr; }

std::vector<graph::Value> decompose_fused(graph::Graph& g, const graph::Node& node,
                                          std::span<const graph::Value> operands) {
  fused::Decomposition* function = kFused[static_cast<size_t>(node.op())];
  if (!function) return {};
  return {function(g, node, operands)};
}

}  // namespace tenon::legalize
