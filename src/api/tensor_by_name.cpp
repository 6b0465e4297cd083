// Ops of lazy tensors by the name they have in docs/ops.md.
#include "api/graph_state.h"
#include "base/error.h"
#include "lazy/apply.h"

namespace tenon {

std::vector<Tensor> Tensor::op(std::string_view name, const std::vector<Tensor>& operands,
                               const Attributes& attributes) {
  const auto op = graph::parse_op(name);
  if (!op) throw user_error("there is no op \"{}\"; docs/ops.md lists them", name);
  if (graph::has(*op, graph::kLeaf)) throw user_error("[{}] is a leaf, not an op", name);
  return lazy::apply_all(*op, operands, GraphState::attributes_of(attributes));
}

Tensor Tensor::op1(std::string_view name, const std::vector<Tensor>& operands,
                   const Attributes& attributes) {
  const std::vector<Tensor> results = op(name, operands, attributes);
  if (results.size() != 1)
    throw user_error("[{}] it has {} results: use op()", name, results.size());
  return results[0];
}

}  // namespace tenon
