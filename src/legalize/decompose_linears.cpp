// Linears as matmuls and arithmetic; a gated one as two plain ones.
#include "graph/activation.h"
#include "legalize/decompose_fused.h"

namespace tenon::legalize::fused {

using graph::Activation;
using graph::Value;

Value linear(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const graph::Attributes& attributes = node.attributes();
  size_t next = 2;
  Value y = g.matmul(operands[0], operands[1]);
  if (attributes.integer("row_scale") != 0) y = g.mul(y, operands.back());
  if (attributes.integer("bias") != 0) y = g.add(y, operands[next++]);
  y = g.activation(*graph::parse_activation(attributes.text("activation")), y);
  if (attributes.integer("residual") != 0) y = g.add(y, operands[next]);
  return y;
}

Value gated_linear(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const graph::Attributes& attributes = node.attributes();
  const Activation activation = *graph::parse_activation(attributes.text("activation"));
  const Value row_scale = attributes.integer("row_scale") != 0 ? operands.back() : Value{};
  const auto branch = [&](Value w, Activation kind) {
    return g.linear(operands[0], w, {}, {}, kind, row_scale);
  };
  return g.mul(branch(operands[1], activation), branch(operands[2], Activation::None));
}

}  // namespace tenon::legalize::fused
