// Numbers that stand for real ones by a scale and a zero point: real = (stored - zero) * scale.
// What the importers of quantized ops are written in.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx {

// How scales and zero points meet the elements: one for all, one per index of `axis`, or one per
// `block` neighbours along `axis`.
struct Granularity {
  int64_t axis = 1;
  int64_t block = 0;  // 0: not blocked
};

// A scale or zero point, reshaped so that it broadcasts to x.
Value spread_parameter(Call& call, Value parameter, Value x, Granularity granularity = {});

// stored - zero as i32, where both are integers; zero may be null.
Value without_zero(Call& call, Value stored, Value zero);
// In f32; zero may be null. The parameters broadcast already.
Value dequantized(Call& call, Value stored, Value scale, Value zero);

struct Target {
  DType dtype = DType::U8;
  Value zero;            // of that dtype; null: 0
  bool saturate = true;  // 8-bit floats
};
// `quotient` is x / scale.
Value quantized(Call& call, Value quotient, const Target& target);
// A matrix product by NumPy's rule for vectors: one gets an axis of extent 1, which the result
// loses again.
Value matmul_of(Call& call, Value a, Value b);

// A scale or zero point of a matrix: one for all, or one per row (of a) or column (of b); may be
// null.
Value per_row(Call& call, Value parameter, Value matrix);
Value per_column(Call& call, Value parameter);
// In i32, less the zero points.
Value integer_product(Call& call, Value a, Value a_zero, Value b, Value b_zero);

// Operands first, first + 1, first + 2 of a node: stored, scale, zero.
Value real_operand(Call& call, int first);
// Operands `scale` and scale + 1 say how to store the result.
Results stored_result(Call& call, Value real, int scale, DType dtype);

}  // namespace tenon::onnx
