// How the pointwise ops are written for scalars, in languages like C.
#pragma once

#include <span>
#include <string>

#include "kernel/expr.h"

namespace tenon::codegen {

// The op of operands of this dtype (Select: of the last two) as an expression, or empty where there
// is no such op. Casts are not among them. What has no operator is a function that preludes define:
// `min_f32`, `div_i8`.
std::string scalar_op_text(kernel::Op op, DType dtype, std::span<const std::string> operands);

enum DTypeKinds : unsigned {
  kBoolKind = 1u << static_cast<int>(DTypeKind::Bool),
  kUnsignedKind = 1u << static_cast<int>(DTypeKind::Unsigned),
  kSignedKind = 1u << static_cast<int>(DTypeKind::Signed),
  kFloatKind = 1u << static_cast<int>(DTypeKind::Float),
  kIntegerKind = kUnsignedKind | kSignedKind,
  kNumberKind = kIntegerKind | kFloatKind,
};

}  // namespace tenon::codegen
