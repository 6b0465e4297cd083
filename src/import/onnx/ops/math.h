// Elementwise ops and reductions: the importers that ops/math.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {}  // namespace tenon::onnx::importers
