// What the elementwise ops mean for single numbers: floats as doubles, everything else as 64-bit
// integers that wrap (a u64 travels in the bits of an int64_t). The caller rounds or wraps to the
// dtype.
#pragma once

#include <cstdint>

#include "graph/op.h"
#include "tenon/dtype.h"

namespace tenon::graph {

int64_t integer_unary(Op op, DType dtype, int64_t x);
double float_binary(Op op, double a, double b);
int64_t integer_binary(Op op, DType dtype, int64_t a, int64_t b);
bool float_compare(Op op, double a, double b);
// The low bits that an integer of this dtype has, sign- or zero-extended.
int64_t wrap_to(DType dtype, int64_t value);

}  // namespace tenon::graph
