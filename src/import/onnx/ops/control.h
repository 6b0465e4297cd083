// Branches and loops: the importers that ops/control.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {}  // namespace tenon::onnx::importers
