// Floats of 8 and 4 bits: every value of one, and the nearest one to a double. One table of formats
// and one algorithm serve all; E8M0, a power of two without sign or zero, has its own.
#pragma once

#include <cstdint>

#include "tenon/dtype.h"

namespace tenon {

// What becomes of a value that the type cannot hold, as ONNX Cast asks for it.
struct NarrowRounding {
  enum class PowerOfTwo : uint8_t { Up, Down, Nearest };  // ties of Nearest go up
  bool saturate = true;  // to the largest finite value; else to Inf, or NaN where there is no Inf
  PowerOfTwo power_of_two = PowerOfTwo::Up;  // E8M0 only
};

double decode_narrow(DType dtype, uint8_t bits);
// Round to nearest even. A NaN stays one; E2M1 has none and gives 0. E8M0 of a negative number is
// NaN; of 0 its smallest value, or NaN where it does not saturate.
uint8_t encode_narrow(DType dtype, double value, NarrowRounding rounding = {});

}  // namespace tenon
