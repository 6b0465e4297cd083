// Products of bytes in the form that machines multiply: rows of u8 by columns of i8, multiplied and
// added as i32. Elementwise work that follows one is computed with it.
#pragma once

#include "graph/graph.h"

namespace tenon::fuse {

// matmul(cast(i32, u8), cast(i32, i8)), or a convolution of them that is a product of matrices.
bool is_integer_product(const graph::Node& node);

// The image that a convolution reads, as it is stored: bytes are widened on the way.
graph::Value image_of(const graph::Node& conv);

}  // namespace tenon::fuse
