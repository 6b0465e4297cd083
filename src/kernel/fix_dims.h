// A scheduled kernel for given extents: its dims are numbers. What it computes, in which order and
// in which memory stays the same, so that the code made of it can take the place of the kernel's
// own at these extents. Dims stay arguments, which nobody reads.
#pragma once

#include <cstdint>
#include <span>

#include "kernel/kernel.h"

namespace tenon::kernel {

// `values`: one for each of the kernel's dims, above 0. A User error where something is divided by
// 0, which no run gets to.
Kernel fix_dims(const Kernel& kernel, std::span<const int64_t> values);

}  // namespace tenon::kernel
