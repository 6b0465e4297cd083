// What optimizers of ONNX Runtime write: the importers that ops/microsoft.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {
Results quantized_attention(Call& call);
Results quantized_embed_layer_normalization(Call& call);
Results quantized_gemm(Call& call);
Results fused_qlinear_conv(Call& call);
Results qlinear_average_pool(Call& call);
Results qlinear_softmax(Call& call);
Results qlinear_where(Call& call);
Results qlinear_reduce_mean(Call& call);
Results reduce_sum_integer(Call& call);
Results mul_integer(Call& call);
Results matmul_integer_16(Call& call);
Results matmul_bnb4(Call& call);
Results gather_block_quantized(Call& call);
Results decoder_masked_multi_head_attention(Call& call);
Results packed_attention(Call& call);
Results packed_multi_head_attention(Call& call);
Results remove_padding(Call& call);
Results restore_padding(Call& call);
Results relative_position_bias(Call& call);
Results gated_relative_position_bias(Call& call);
Results fused_conv(Call& call);
Results nhwc_conv(Call& call);
Results nhwc_fused_conv(Call& call);
Results nhwc_max_pool(Call& call);
Results fused_gemm(Call& call);
Results gemm_fast_gelu(Call& call);
Results fused_matmul_activation(Call& call);
Results fused_group_norm(Call& call);
Results skip_group_norm(Call& call);
Results bias_add(Call& call);
Results bias_softmax(Call& call);
Results bias_dropout(Call& call);
Results expand_dims(Call& call);
Results dynamic_quantize_lstm(Call& call);
Results fused_causal_conv_with_state(Call& call);
}  // namespace tenon::onnx::importers
