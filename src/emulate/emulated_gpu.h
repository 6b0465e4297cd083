// A GPU that is not there: programs scheduled for GPUs, on the interpreter of the loop IR. Slow,
// and exact about what a GPU is not: every access is checked, and races between threads are errors.
// Its code is the kernels' text.
#pragma once

#include <memory>

#include "runtime/device.h"

namespace tenon::emulate {

std::shared_ptr<runtime::DeviceStream> open_emulated_gpu();

}  // namespace tenon::emulate
