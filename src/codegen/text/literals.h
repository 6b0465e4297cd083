// Numbers and type names as languages like C write them.
#pragma once

#include <cstdint>
#include <string>

#include "tenon/dtype.h"

namespace tenon::codegen {

// The type of a value, and of what lies in memory: `f32`, `i64`, and the bits of what cannot be
// computed with (bool, f16, bf16, the narrow ones) as `u8` or `u16`.
std::string scalar_type(DType dtype);

std::string integer_text(int64_t value);
// A constant of the dtype, exact. Where it is not finite: `inf_f32`, `nan_f64`, which preludes
// define.
std::string constant_text(DType dtype, double value);

}  // namespace tenon::codegen
