// See fused_nodes.h. Of a linear, its parts say what was made part of it.
#include "fuse/fused_nodes.h"

#include "fuse/dequantized.h"
#include "graph/linear_parts.h"

namespace tenon::fuse {

using graph::Activation;
using graph::LinearParts;
using graph::Node;
using graph::Op;

namespace {

bool activates(const Node& node, Activation activation) {
  const bool linear = is<Op::Linear>(node) || is<Op::GatedLinear>(node);
  return linear && parts_of(node).activation == activation;
}

}  // namespace

bool is_gelu(const Node& node) {
  return is<Op::Gelu>(node) || (is<Op::Linear>(node) && activates(node, Activation::Gelu));
}

bool is_silu(const Node& node) { return is<Op::Silu>(node) || activates(node, Activation::Silu); }

bool is_bias_act(const Node& node) {
  if (!is<Op::Linear>(node)) return false;
  const LinearParts parts = parts_of(node);
  return parts.bias || parts.activation != Activation::None;
}

bool has_residual(const Node& node) { return is<Op::Linear>(node) && parts_of(node).residual; }

bool has_row_scale(const Node& node) { return node.attributes().integer("row_scale", 0) != 0; }

bool is_shared_input(const Node& node) {
  if (!is<Op::Linear>(node)) return false;
  const Node& w = *node.operand(1).node;
  return w.op() == Op::Concat && w.attributes().integer("axis") == 1;
}

bool is_dequantize_matmul(const Node& node) {
  if (is<Op::GatedLinear>(node))
    return is_dequantized(node.operand(1)) && is_dequantized(node.operand(2));
  return is<Op::Linear>(node) && is_dequantized(parts_of(node).w);
}

}  // namespace tenon::fuse
