// Code generation for NVIDIA GPUs: a kernel of level `gpu` becomes one CUDA C++ function, and NVRTC
// makes a cubin of it.
#pragma once

#include <memory>
#include <string>

#include "kernel/kernel.h"
#include "program/program.h"

namespace tenon::codegen::cuda {

// `arch`: compute capability times 10, 80 or 90. Throws Internal where the kernel is not in the
// form for GPUs, Unsupported where there is no NVRTC.
std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel, int arch);

std::string source(const kernel::Kernel& kernel, int arch);

}  // namespace tenon::codegen::cuda
