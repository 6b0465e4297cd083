// How GroupQueryAttention stores keys or values between steps: as they are, or quantized to 8 or 4
// bits with a scale for all or one for each channel.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx {

struct CacheFormat {
  Value scale = {};  // f32, spreads over [batch, heads, length, width]; null: stored as they are
  DType stored = DType::I8;
  int64_t bits = 8;

  Value store(Call& call, Value real) const;  // in the order of the cache, packed where bits are 4
  Value restore(Call& call, Value cache, DType dtype) const;
};

// `kind` names the attribute (k_quant_type, v_quant_type), `past` the cache that came in.
CacheFormat cache_format(Call& call, std::string_view kind, Value past, Value scale);

}  // namespace tenon::onnx
