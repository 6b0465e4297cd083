// Rotary position embeddings, which an op of their own and attention with a cache both have.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx {

// Turns pairs of the first 2 * n elements of the last axis, where cosines and sines have n of them
// and spread over the other axes. Interleaved pairs are neighbours; others lie n apart.
Value rotated(Call& call, Value x, Value cosines, Value sines, bool interleaved);

}  // namespace tenon::onnx
