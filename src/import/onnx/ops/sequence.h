// Recurrent layers, signal transforms, einsum, losses, norms: the importers that ops/sequence.def
// names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {}  // namespace tenon::onnx::importers
