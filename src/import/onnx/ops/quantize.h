// Narrow types, quantization, random numbers: the importers that ops/quantize.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {}  // namespace tenon::onnx::importers
