// Attention and its relatives, com.microsoft: the importers that ops/transformer.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {
Results scaled_dot_product_attention(Call& call);
Results rotary_embedding(Call& call);
Results rms_normalization(Call& call);
Results linear_attention(Call& call);
Results swiglu(Call& call);
Results multi_head_attention(Call& call);
Results group_query_attention(Call& call);
Results fused_rotary_embedding(Call& call);
Results skip_simplified_layer_normalization(Call& call);
Results bias_split_gelu(Call& call);
Results flex_attention(Call& call);
}  // namespace tenon::onnx::importers
