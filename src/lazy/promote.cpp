#include "lazy/promote.h"

#include <cmath>

#include "base/error.h"
#include "lazy/apply.h"

namespace tenon::lazy {
namespace {

// Of a signed and an unsigned integer: the least signed one that holds both; f64 where none does.
DType holding_both(DType is_signed, DType is_unsigned) {
  if (info(is_signed).bits > info(is_unsigned).bits) return is_signed;
  switch (info(is_unsigned).bits) {
    case 8:
      return DType::I16;
    case 16:
      return DType::I32;
    case 32:
      return DType::I64;
    default:
      return DType::F64;
  }
}

DType promoted(std::string_view call, DType a, DType b) {
  if (a == b) return a;
  if (is_storage_only(a) || is_storage_only(b))
    throw user_error("[{}] {} and {} do not meet: cast one of them", call, to_string(a),
                     to_string(b));
  const DTypeKind kind_a = info(a).kind, kind_b = info(b).kind;
  if (kind_a == kind_b) {
    if (info(a).bits == info(b).bits) return DType::F32;  // f16 and bf16
    return info(a).bits > info(b).bits ? a : b;
  }
  if (kind_a == DTypeKind::Bool || kind_b == DTypeKind::Float) return b;
  if (kind_b == DTypeKind::Bool || kind_a == DTypeKind::Float) return a;
  return kind_a == DTypeKind::Signed ? holding_both(a, b) : holding_both(b, a);
}

DType dtype_of(std::string_view call, const Tensor& operand) {
  if (!operand) throw user_error("[{}] an operand is no tensor", call);
  return operand.dtype();
}

}  // namespace

DType promoted(std::string_view call, const Tensor& a, const Tensor& b) {
  return promoted(call, dtype_of(call, a), dtype_of(call, b));
}

DType promoted(std::string_view call, std::span<const Tensor> tensors) {
  DType dtype = dtype_of(call, tensors[0]);
  for (const Tensor& tensor : tensors) dtype = promoted(call, dtype, dtype_of(call, tensor));
  return dtype;
}

DType promoted(DType a, const Scalar& b) {
  const DTypeKind kind = info(a).kind;
  if (kind == DTypeKind::Float) return a;
  if (!b.is_integer()) return DType::F32;
  return kind == DTypeKind::Bool ? DType::I64 : a;
}

bool holds(DType dtype, const Scalar& value) {
  if (!value.is_integer() || !is_integer(dtype)) return true;
  const bool is_signed = info(dtype).kind == DTypeKind::Signed;
  if (value.number() < 0 && !is_signed) return false;
  const double beyond = std::ldexp(1.0, info(dtype).bits - (is_signed ? 1 : 0));
  if (info(dtype).bits == 64) return !is_signed || value.number() < beyond || value.integer() >= 0;
  return -beyond <= value.number() && value.number() < beyond;
}

Tensor element(const char* call, const Scalar& value, DType dtype) {
  if (!holds(dtype, value))
    throw user_error("[{}] {} is no {}", call, value.number(), to_string(dtype));
  return constant(value, dtype);
}

Tensor as_float(const Tensor& x) {
  return info(x.dtype()).kind == DTypeKind::Float ? x : x.cast(DType::F32);
}

}  // namespace tenon::lazy
