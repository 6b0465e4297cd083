// Narrow types, quantization, random numbers: the importers that ops/quantize.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {

Results quantize_linear(Call& call);
Results dequantize_linear(Call& call);
Results dynamic_quantize_linear(Call& call);
Results matmul_integer(Call& call);
Results qlinear_matmul(Call& call);
Results qlinear_sigmoid(Call& call);
Results qlinear_leaky_relu(Call& call);
Results qlinear_global_average_pool(Call& call);
Results qlinear_concat(Call& call);
Results matmul_integer_to_float(Call& call);
Results dynamic_quantize_matmul(Call& call);
Results matmul_nbits(Call& call);
Results random_uniform(Call& call);
Results random_normal(Call& call);
Results bernoulli(Call& call);
Results multinomial(Call& call);

Results qlinear_elementwise(Call& call, Op op);

template <Op op>
Results qlinear_binary(Call& call) {
  return qlinear_elementwise(call, op);
}

}  // namespace tenon::onnx::importers
