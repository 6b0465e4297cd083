// Products of quantized numbers in the one form that kernels multiply: rows of u8, columns of i8.
// Zero points, and what other signs add to them, come out of the sums: of stored numbers a and b
//
//   (a - za) @ (b - zb) = a @ b - za * columns(b) - rows(a) * zb + depth * za * zb
//
// where columns and rows are sums along the depth. All of it is i32 that wraps, so it is exact
// wherever the product is; sums of columns of weights are made once.
#pragma once

#include "legalize/bytes.h"

namespace tenon::legalize {

// The product in i32 of rows [..., m, depth] and columns [..., depth, n].
graph::Value integer_product(graph::Graph& g, Bytes rows, Bytes columns);

// Every matmul of bytes that are cast to i32, less zero points or not, by that product; and every
// matmul of two dequantized factors, (a - za) * sa by (b - zb) * sb, whose sums an i32 holds: the
// integers are multiplied, and the sums scaled by sa * sb in f32. Convolutions likewise
// (integer_convolution.h), as products only where the target has a schedule for them.
graph::Graph integer_products(const graph::Graph& graph, bool convolutions);

}  // namespace tenon::legalize
