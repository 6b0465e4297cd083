// Weights in 2, 4 or 8 bits each, packed low bits first, with a scale (and a zero point) for each
// block of neighbours.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx {

// u8; the last axis becomes 8 / bits times as long.
Value unpacked_bits(Call& call, Value packed, int64_t bits);
void check_bits(int64_t bits);  // Unsupported: other than 2, 4, 8
// The first `columns` of each row of a matrix.
Value first_columns(Call& call, Value matrix, const Dim& columns);

struct BlockedWeights {
  int64_t rows, columns, bits, block;
  Value codes;       // u8, rows * blocks * block * bits / 8
  Value scales;      // floats, rows * blocks
  Value zeros = {};  // packed u8, or floats; half the range where null
  Value groups =
      {};  // i32[columns]: the block whose scale counts; null: that of the column's place
};
// f32[rows, columns].
Value real_weights(Call& call, const BlockedWeights& w);

}  // namespace tenon::onnx
