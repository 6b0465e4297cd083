// Buffers that a schedule no longer touches.
#pragma once

#include "kernel/kernel.h"

namespace tenon::schedule {

void prune_buffers(kernel::Kernel& kernel);  // drops and renumbers

}  // namespace tenon::schedule
