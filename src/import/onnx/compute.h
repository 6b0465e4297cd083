// The dtype an importer computes in when it writes an op as several steps. f16 and bf16 go to f32
// and are rounded once, at the end; integers go to f64 where the op is about real numbers.
#pragma once

#include <utility>
#include <vector>

#include "import/onnx/call.h"

namespace tenon::onnx {

inline Value as(Call& call, Value x, DType dtype) {
  return x.dtype() == dtype ? x : call.g.cast(x, dtype);
}

// f16 and bf16 as f32, everything else as it is.
inline Value widened(Call& call, Value x) {
  return x.dtype() == DType::F16 || x.dtype() == DType::BF16 ? call.g.cast(x, DType::F32) : x;
}

inline Value filled(Call& call, DType dtype, double value, std::vector<Dim> shape) {
  return call.g.expand(call.g.scalar(dtype, value), std::move(shape));
}

constexpr DType compute_dtype(DType dtype) {
  if (!is_float(dtype)) return DType::F64;
  return dtype == DType::F64 ? DType::F64 : DType::F32;
}

inline Value number_like(Call& call, Value x, double value) {
  return call.g.scalar(x.dtype(), value);
}

// f(x) in the dtype to compute in, rounded to that of x.
template <typename Function>
Results computed(Call& call, Value x, Function f) {
  return {as(call, f(as(call, x, compute_dtype(x.dtype()))), x.dtype())};
}

// x, but `other` where x is negative; a NaN of x stays.
inline Value where_negative(Call& call, Value x, Value other) {
  return call.g.apply(Op::Where, {call.g.binary(Op::Less, x, number_like(call, x, 0)), other, x});
}

// x within low .. high; high where they cross.
inline Value clamped(Call& call, Value x, double low, double high) {
  return call.g.binary(Op::Min, call.g.binary(Op::Max, x, number_like(call, x, low)),
                       number_like(call, x, high));
}

}  // namespace tenon::onnx
