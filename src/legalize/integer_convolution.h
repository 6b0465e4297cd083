// Convolutions of quantized numbers: of u8 images by i8 weights, in i32. Where the image has a zero
// point it is what padding has, and comes out of the sums times those of the weights:
//
//   conv(x - zx, w) = conv(x padded by zx, w) - zx * sums(w)
#pragma once

#include <span>

#include "graph/graph.h"

namespace tenon::legalize {

// In place of a convolution of i32 values that are made of bytes, or of dequantized ones; null: it
// stays. `as_products`: the target multiplies bytes in convolutions. Sums that f32 holds exactly
// are computed in it where they are no such products (few channels, or one to each group).
graph::Value integer_convolution(graph::Graph& g, const graph::Node& conv,
                                 std::span<const graph::Value> operands, bool as_products);

}  // namespace tenon::legalize
