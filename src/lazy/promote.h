// The dtype in which operands meet: bool below integers below floats, the wider of a kind.
#pragma once

#include "tenon/lazy_tensor.h"

namespace tenon::lazy {

DType promoted(DType a, DType b);
DType promoted(DType a, const Scalar& b);

// An integer or bool tensor as f32, others as they are.
Tensor as_float(const Tensor& x);

}  // namespace tenon::lazy
