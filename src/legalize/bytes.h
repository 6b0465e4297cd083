// Quantized numbers: bytes that stand for `stored - zero`, as the i32 or f32 values that graphs
// compute with are made of them.
#pragma once

#include <optional>

#include "graph/graph.h"

namespace tenon::legalize {

// i8 or u8. The zero point is i32, a scalar or constant along the depth; null: 0.
struct Bytes {
  graph::Value stored, zero = {};
};

// A factor in f32: bytes times a scale that is the same all along the depth.
struct Dequantized {
  Bytes bytes;
  graph::Value scale;
};

// The same numbers, stored with the sign that is wanted.
Bytes stored_as(graph::Graph& g, const Bytes& bytes, DType dtype);

// What a value is made of, where it is so; the depth is an axis counted from the last one.
std::optional<Bytes> bytes_of(graph::Value value, int depth_from_last);
std::optional<Dequantized> dequantized(graph::Value value, int depth_from_last);

// The longest sum of products of two differences from a zero point that a number of so many bits
// (and a sign) holds: the largest difference is 255.
constexpr int64_t longest_sum(int bits) { return (int64_t{1} << bits) / (255 * 255); }

}  // namespace tenon::legalize
