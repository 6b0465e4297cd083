// Linears as matmuls and arithmetic; a gated one as two plain ones.
#include "graph/linear_parts.h"
#include "legalize/decompose_fused.h"

namespace tenon::legalize::fused {

using graph::Activation;
using graph::LinearParts;
using graph::Value;

Value linear(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const LinearParts parts = parts_of(node, operands);
  Value y = g.matmul(parts.x, parts.w);
  if (parts.row_scale) y = g.mul(y, parts.row_scale);
  if (parts.bias) y = g.add(y, parts.bias);
  y = g.activation(parts.activation, y);
  return parts.residual ? g.add(y, parts.residual) : y;
}

Value gated_linear(graph::Graph& g, const graph::Node& node, std::span<const Value> operands) {
  const LinearParts parts = parts_of(node, operands);
  const auto branch = [&](Value w, Activation kind) {
    return g.linear(parts.x, w, {}, {}, kind, parts.row_scale);
  };
  return g.mul(branch(parts.w, parts.activation), branch(parts.up, Activation::None));
}

}  // namespace tenon::legalize::fused
