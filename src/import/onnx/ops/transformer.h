// Attention and its relatives, com.microsoft: the importers that ops/transformer.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {}  // namespace tenon::onnx::importers
