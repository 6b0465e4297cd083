// What stands above every kernel in CUDA C++: the element types and what the language has no
// operator for. Nothing is included, so that a kernel compiles in milliseconds.
#pragma once

#include <string_view>

namespace tenon::codegen::cuda {

// In plain C++: types, integers, floats, guards, lanes that are moved at once.
std::string_view scalar_prelude();
// What is an instruction of the machine: conversions, asynchronous copies, matrices.
std::string_view device_prelude();

}  // namespace tenon::codegen::cuda
