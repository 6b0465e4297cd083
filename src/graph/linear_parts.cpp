// Reads operands by the attributes that say which of the optional ones are there.
#include "graph/linear_parts.h"

#include "graph/activation.h"

namespace tenon::graph {

LinearParts parts_of(const Node& contraction, std::span<const Value> operands) {
  LinearParts parts{operands[0], operands[1]};
  if (contraction.op() == Op::MatMul) return parts;
  size_t next = 2;
  if (contraction.op() == Op::GatedLinear) parts.up = operands[next++];
  const auto optional = [&](const char* name) {
    return contraction.attributes().integer(name, 0) != 0 ? operands[next++] : Value{};
  };
  parts.bias = optional("bias");
  parts.residual = optional("residual");
  parts.row_scale = optional("row_scale");
  parts.activation = *parse_activation(contraction.attributes().text("activation"));
  return parts;
}

}  // namespace tenon::graph
