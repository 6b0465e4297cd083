// Convolution, pooling, resizing, image ops: the importers that ops/spatial.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {}  // namespace tenon::onnx::importers
