// Products of bytes in the form that machines multiply: rows of u8 by columns of i8, multiplied and
// added as i32. Elementwise work that follows one is computed with it.
#pragma once

#include "graph/graph.h"

namespace tenon::fuse {

// matmul(cast(i32, u8), cast(i32, i8))
bool is_integer_product(const graph::Node& node);

}  // namespace tenon::fuse
