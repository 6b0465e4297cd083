// Square roots, rounding, fma and half floats on vectors: clang has builtins for every width, GCC
// one per instruction. Names as the prelude's: fma_f32v(a, b, c).
#pragma once

#include <cstdint>
#include <string>

namespace tenon::codegen::c {

std::string vector_builtins(int64_t lanes);  // macros, for vectors of so many

}  // namespace tenon::codegen::c
