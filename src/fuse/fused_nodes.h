// What the nodes of known patterns are: what the report counts, and what is missed where a pass
// could still make one.
#pragma once

#include "graph/node.h"

namespace tenon::fuse {

template <graph::Op op>
bool is(const graph::Node& node) {
  return node.op() == op;
}

bool is_gelu(const graph::Node& node);  // alone, or the activation of a linear
bool is_silu(const graph::Node& node);  // likewise, or that of a gated linear
bool is_bias_act(const graph::Node& node);
bool has_residual(const graph::Node& node);
bool has_row_scale(const graph::Node& node);    // a norm became part of it
bool is_shared_input(const graph::Node& node);  // weights side by side
bool is_dequantize_matmul(const graph::Node& node);

}  // namespace tenon::fuse
