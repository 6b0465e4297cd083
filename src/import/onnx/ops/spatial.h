// Convolution, pooling, resizing, image ops, their norms: the importers that ops/spatial.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {
Results conv(Call& call);
Results conv_transpose(Call& call);
Results conv_integer(Call& call);
Results qlinear_conv(Call& call);
Results deform_conv(Call& call);
Results causal_conv_with_state(Call& call);
Results col2im(Call& call);
Results max_pool(Call& call);
Results average_pool(Call& call);
Results lp_pool(Call& call);
Results global_average_pool(Call& call);
Results global_max_pool(Call& call);
Results global_lp_pool(Call& call);
Results max_unpool(Call& call);
Results max_roi_pool(Call& call);
Results roi_align(Call& call);
Results grid_sample(Call& call);
Results affine_grid(Call& call);
Results resize(Call& call);
Results upsample(Call& call);
Results lrn(Call& call);
Results batch_normalization(Call& call);
Results instance_normalization(Call& call);
Results group_normalization(Call& call);
Results mean_variance_normalization(Call& call);
Results lp_normalization(Call& call);
}  // namespace tenon::onnx::importers
