// Shapes that come from data, gather and scatter, sorting: the importers that ops/index.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {}  // namespace tenon::onnx::importers
