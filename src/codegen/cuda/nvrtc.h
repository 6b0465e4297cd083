// NVRTC, NVIDIA's compiler as a library: loaded when it is first needed, so that the same binary
// runs on machines without it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace tenon::codegen::cuda {

bool has_nvrtc();

// The options of every compilation but for the architecture: they are part of what its result
// depends on.
std::string nvrtc_options();

// CUDA C++ to a cubin for compute capability arch / 10 (80, 90). Any number of threads at once.
// Unsupported where there is no NVRTC; Internal, with its messages, where it refuses the source.
std::vector<std::byte> compile_cuda(const std::string& source, int arch, const std::string& kernel);

}  // namespace tenon::codegen::cuda
