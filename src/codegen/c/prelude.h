// What stands above every kernel in C: the element types, vectors of a part of the lanes, and the
// operations that C has no operator for.
#pragma once

#include <cstdint>
#include <string>

namespace tenon::codegen::c {

// `lanes` per vector: the kLaneCount lanes of a value are several vectors of it, each of which fits
// into a register. Names: T for a scalar, Tv for a vector (`f32`, `f32v`); a bool is a u8 of 0 or
// 1, a vector of them an i32v of 0 or -1.
std::string prelude(int64_t lanes);

}  // namespace tenon::codegen::c
