// Branches and loops: the importers that ops/control.def names.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx::importers {
Results if_else(Call& call);
Results loop(Call& call);
Results scan(Call& call);
}  // namespace tenon::onnx::importers
