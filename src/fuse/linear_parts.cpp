// Reads a linear's operands by the attributes that say which of the optional ones are there.
#include "fuse/linear_parts.h"

#include "graph/activation.h"

namespace tenon::fuse {

LinearParts parts_of(const graph::Node& linear) {
  LinearParts parts{linear.operand(0), linear.operand(1)};
  int next = 2;
  if (linear.attributes().integer("bias") != 0) parts.bias = linear.operand(next++);
  if (linear.attributes().integer("residual") != 0) parts.residual = linear.operand(next);
  if (linear.attributes().integer("row_scale") != 0) parts.row_scale = linear.operands().back();
  parts.activation = *graph::parse_activation(linear.attributes().text("activation"));
  return parts;
}

}  // namespace tenon::fuse
