// The operands and attributes of a contraction by name: activation((x @ w) * row_scale + bias) +
// residual, and activation(x @ w * row_scale) * (x @ up * row_scale) of a gated linear. Passes take
// nodes apart with it, and gather the parts of nodes that do not exist yet.
#pragma once

#include <span>

#include "graph/graph.h"

namespace tenon::graph {

struct LinearParts {
  Value x, w;
  Value bias = {}, residual = {};  // may be absent
  Activation activation = Activation::None;
  Value row_scale = {};  // may be absent
  Value up = {};         // of a gated linear, whose gate is w
};

// Of a linear, a gated linear or a matmul, with its own operands or those that take their places.
LinearParts parts_of(const Node& contraction, std::span<const Value> operands);
inline LinearParts parts_of(const Node& contraction) {
  return parts_of(contraction, contraction.operands());
}

}  // namespace tenon::graph
