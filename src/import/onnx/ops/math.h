// Elementwise ops and reductions: the importers that ops/math.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {

Results cast_like(Call& call);
Results bit_cast(Call& call);
Results mod(Call& call);
Results bit_shift(Call& call);
Results bitwise_not(Call& call);
Results logical_xor(Call& call);
Results is_nan(Call& call);
Results is_inf(Call& call);
Results erf(Call& call);

Results elu(Call& call);
Results selu(Call& call);
Results celu(Call& call);
Results leaky_relu(Call& call);
Results prelu(Call& call);
Results thresholded_relu(Call& call);
Results hard_sigmoid(Call& call);
Results hard_swish(Call& call);
Results softsign(Call& call);
Results shrink(Call& call);
Results mish(Call& call);
Results swish(Call& call);
Results clip(Call& call);
Results quick_gelu(Call& call);
Results sum(Call& call);
Results mean(Call& call);

Results reduce_l1(Call& call);
Results reduce_l2(Call& call);
Results reduce_sum_square(Call& call);
Results reduce_log_sum(Call& call);
Results reduce_log_sum_exp(Call& call);
Results hardmax(Call& call);
Results log_softmax(Call& call);

Results arg_extreme_along(Call& call, Op op);
Results cumulate_along(Call& call, Op op);

template <Op op>
Results arg_extreme(Call& call) {
  return arg_extreme_along(call, op);
}
template <Op op>
Results cumulate(Call& call) {
  return cumulate_along(call, op);
}

}  // namespace tenon::onnx::importers
