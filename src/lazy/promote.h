// The dtype in which operands meet: bool below integers below floats, the wider of a kind.
#pragma once

#include <span>
#include <string_view>

#include "tenon/lazy_tensor.h"

namespace tenon::lazy {

// Errors name the call.
DType promoted(std::string_view call, const Tensor& a, const Tensor& b);
DType promoted(std::string_view call, std::span<const Tensor> tensors);  // at least one
DType promoted(DType a, const Scalar& b);

// Whether the dtype has the number as an element; a fraction that meets integers is cut off.
bool holds(DType dtype, const Scalar& value);
// The number as an element of the dtype. An integer that it does not hold is an Error.
Tensor element(const char* call, const Scalar& value, DType dtype);

// An integer or bool tensor as f32, others as they are.
Tensor as_float(const Tensor& x);

}  // namespace tenon::lazy
