// Makes a failing case smaller: fewer outputs, operands cut off to inputs, smaller extents, as long
// as it still fails.
#pragma once

#include <functional>

#include "tools/replay/case.h"

namespace tenon::differential {

replay::Case shrink(replay::Case failing, const std::function<bool(const replay::Case&)>& fails);

}  // namespace tenon::differential
