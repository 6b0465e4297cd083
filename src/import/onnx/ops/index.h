// Shapes that come from data, gather and scatter, sorting: the importers that ops/index.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {
Results size(Call& call);
Results tile(Call& call);
Results pad(Call& call);
Results range(Call& call);
Results trilu(Call& call);
Results eye_like(Call& call);
Results one_hot(Call& call);
Results reverse_sequence(Call& call);
Results space_to_depth(Call& call);
Results depth_to_space(Call& call);
Results center_crop_pad(Call& call);
Results gather_elements(Call& call);
Results gather_nd(Call& call);
Results scatter_elements(Call& call);
Results scatter_nd(Call& call);
Results tensor_scatter(Call& call);
Results compress(Call& call);
Results positions_of_non_zero(Call& call);
Results top_k(Call& call);
Results unique(Call& call);
Results non_max_suppression(Call& call);
Results tf_idf_vectorizer(Call& call);
}  // namespace tenon::onnx::importers
