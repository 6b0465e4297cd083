// The formats of narrow floats, a row each: what both the definition of their values (narrow.cpp)
// and generated code read.
#pragma once

#include "tenon/dtype.h"

namespace tenon {

struct NarrowFormat {
  DType dtype;
  int fraction_bits;
  int bias;
  int largest;   // code of the largest finite value
  int infinity;  // -1: none
  int nan;       // -1: none
  int sign_at;   // place of the sign bit
  bool has_minus_zero;
};

// Of a float of 8 or 4 bits but for E8M0, which has neither fraction nor sign.
const NarrowFormat& narrow_format(DType dtype);

}  // namespace tenon
