// The operands and attributes of a linear by name. fuse_linear gathers them before the node exists,
// the passes after it take them apart again.
#pragma once

#include "graph/graph.h"

namespace tenon::fuse {

struct LinearParts {
  graph::Value x, w;
  graph::Value bias = {}, residual = {};  // may be absent
  graph::Activation activation = graph::Activation::None;
  graph::Value row_scale = {};  // may be absent
};

LinearParts parts_of(const graph::Node& linear);

}  // namespace tenon::fuse
