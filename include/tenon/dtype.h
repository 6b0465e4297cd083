// Element types. Everything known about one is a row of dtypes.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon {

enum class DTypeKind : uint8_t { Bool, Unsigned, Signed, Float };

enum class DType : uint8_t {
#define DTYPE(Name, ...) Name,
#include "tenon/dtypes.def"
#undef DTYPE
};

struct DTypeInfo {
  std::string_view name;
  int bits;
  DTypeKind kind;
  int onnx;
};

inline constexpr DTypeInfo kDTypes[] = {
#define DTYPE(Name, text, bits, kind, onnx, storage) {text, bits, kind, onnx},
#include "tenon/dtypes.def"
#undef DTYPE
};

constexpr const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<int>(dtype)]; }
constexpr std::string_view to_string(DType dtype) { return info(dtype).name; }
constexpr int64_t size_of(DType dtype) { return (info(dtype).bits + 7) / 8; }  // in memory
constexpr bool is_float(DType dtype) { return info(dtype).kind == DTypeKind::Float; }
constexpr bool is_integer(DType dtype) {
  return info(dtype).kind == DTypeKind::Signed || info(dtype).kind == DTypeKind::Unsigned;
}

// 8-bit floats and everything of fewer bits: see dtypes.def.
constexpr bool is_storage_only(DType dtype) { return dtype > DType::F64; }

std::optional<DType> parse_dtype(std::string_view text);
std::optional<DType> dtype_from_onnx(int number);

// The one promotion table: the type that holds both, as NumPy decides it for arrays (i64 + f32 is
// f64 there and here). A storage-only type counts as f32, which holds all of each.
DType promote(DType a, DType b);

// Exact conversions, round to nearest even; NaN stays NaN, overflow becomes Inf.
float f16_to_f32(uint16_t bits);
uint16_t f32_to_f16(float value);
float bf16_to_f32(uint16_t bits);
uint16_t f32_to_bf16(float value);

// One element of any dtype read as double / written from double (the interpreters' view of memory).
// Integers beyond 2^53 go through the i64 pair. Float to integer truncates toward zero; NaN becomes
// 0; out of range saturates. Integer to integer keeps the low bits (two's complement, as ONNX Cast
// and C do), so a u64 travels through i64 unharmed. Conversion to bool is `!= 0`. Every conversion
// rounds once, to nearest even. What the storage-only types do with values they cannot hold stands
// in narrow.h; here they saturate, the 4- and 2-bit integers keep the low bits.
double load_as_f64(DType dtype, const void* element);
void store_from_f64(DType dtype, void* element, double value);
int64_t load_as_i64(DType dtype, const void* element);
void store_from_i64(DType dtype, void* element, int64_t value);

}  // namespace tenon
