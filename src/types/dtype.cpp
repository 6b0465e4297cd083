// Element types: names, promotion, exact conversions between the small floats and f32, and single
// elements read and written as f64 or i64. Written for clarity and exactness; generated kernels
// convert on their own.
#include "tenon/dtype.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "base/error.h"
#include "types/narrow.h"

namespace tenon {
namespace {

constexpr int kCount = static_cast<int>(std::size(kDTypes));

DType dtype_at(int index) { return static_cast<DType>(index); }

// The signed type that holds every value of an unsigned one; u64 has none and goes to f64, as in
// NumPy.
DType promote_mixed_integers(DType is_unsigned, DType is_signed) {
  const int needed = info(is_unsigned).bits * 2;
  if (needed > 64) return DType::F64;
  const DType wide = needed == 16 ? DType::I16 : needed == 32 ? DType::I32 : DType::I64;
  return info(wide).bits > info(is_signed).bits ? wide : is_signed;
}

// The smallest float that NumPy picks for an integer and a float: 8-bit integers fit f16, 16-bit
// ones f32. bf16 is not NumPy's; it follows f16 in range of bits and keeps 8-bit integers exact
// too.
DType promote_with_float(DType integer, DType is_float) {
  const int bits = info(integer).bits;
  const DType needed = bits <= 8 ? is_float : bits == 16 ? DType::F32 : DType::F64;
  return info(needed).bits > info(is_float).bits ? needed : is_float;
}

// Rounds an f32 magnitude (no sign bit) to f16: shift the significand into place, round to nearest
// even.
uint16_t round_to_f16(uint32_t magnitude) {
  if (magnitude > 0x7f800000u) {  // NaN: keep the top of the payload, make it quiet
    return static_cast<uint16_t>(0x7e00u | ((magnitude >> 13) & 0x1ffu));
  }
  if (magnitude >= 0x47800000u) return 0x7c00u;  // 65536 and more, Inf included
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  if (exponent < -25) return 0;  // below half of the smallest subnormal
  const uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
  // Normal results drop 13 bits; each step below the smallest normal exponent (-14) drops one more.
  const int shift = exponent >= -14 ? 13 : -1 - exponent;
  const uint32_t kept = significand >> shift;
  const uint32_t dropped = significand & ((1u << shift) - 1);
  const uint32_t half = 1u << (shift - 1);
  const uint32_t rounded = kept + (dropped > half || (dropped == half && (kept & 1u)) ? 1 : 0);
  // A carry out of the significand moves into the exponent, which is just what rounding up means.
  const uint32_t base = exponent >= -14 ? static_cast<uint32_t>(exponent + 14) << 10 : 0;
  return static_cast<uint16_t>(base + rounded);
}

template <typename T>
T read(const void* element) {
  T value;
  std::memcpy(&value, element, sizeof value);
  return value;
}

template <typename T>
void write(void* element, T value) {
  std::memcpy(element, &value, sizeof value);
}

template <typename T>
T saturate_from_f64(double value) {
  if (std::isnan(value)) return 0;
  // 2^digits is exact in f64 where max() may not be.
  const double limit = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (value >= limit) return std::numeric_limits<T>::max();
  if (value <= static_cast<double>(std::numeric_limits<T>::min())) {
    return std::numeric_limits<T>::min();
  }
  return static_cast<T>(value);
}

// f64 to a 16-bit float with one rounding: going through f32 rounds twice. Rounding to odd first
// (the sticky bit kept in the last place) makes the second rounding see the truth.
float to_f32_rounding_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || std::isnan(value) || std::isinf(nearest)) {
    return nearest;
  }
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (bits & 1u) return nearest;
  const bool rounded_away = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  return std::bit_cast<float>((rounded_away ? bits - 1 : bits) | 1u);
}

double to_f64_rounding_to_odd(int64_t value) {
  constexpr int64_t kExact = int64_t{1} << 53, kDropped = 0x7ff;
  if (-kExact <= value && value <= kExact) return static_cast<double>(value);
  return static_cast<double>((value & ~kDropped) | ((value & kDropped) != 0 ? kDropped + 1 : 0));
}

constexpr bool is_narrow_float(DType dtype) { return is_storage_only(dtype) && is_float(dtype); }

// A 4- or 2-bit integer, sign-extended where it is signed.
int64_t low_bits(DType dtype, int64_t value) {
  const int unused = 64 - info(dtype).bits;
  const uint64_t high = static_cast<uint64_t>(value) << unused;
  return info(dtype).kind == DTypeKind::Signed ? static_cast<int64_t>(high) >> unused
                                               : static_cast<int64_t>(high >> unused);
}

// Calls f.operator()<dtype, its storage type>().
template <typename Function>
auto visit(DType dtype, Function&& f) {
  switch (dtype) {
#define DTYPE(Name, text, bits, kind, onnx, storage) \
  case DType::Name:                                  \
    return f.template operator()<DType::Name, storage>();
#include "tenon/dtypes.def"
#undef DTYPE
  }
  throw internal_error("no such dtype: {}", static_cast<int>(dtype));
}

}  // namespace

std::optional<DType> parse_dtype(std::string_view text) {
  for (int i = 0; i < kCount; ++i) {
    if (kDTypes[i].name == text) return dtype_at(i);
  }
  return std::nullopt;
}

std::optional<DType> dtype_from_onnx(int number) {
  for (int i = 0; i < kCount; ++i) {
    if (kDTypes[i].onnx == number) return dtype_at(i);
  }
  return std::nullopt;
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (is_storage_only(a)) return promote(DType::F32, b);
  if (is_storage_only(b)) return promote(a, DType::F32);
  const DTypeKind ka = info(a).kind, kb = info(b).kind;
  if (ka > kb) return promote(b, a);
  if (ka == DTypeKind::Bool) return b;
  if (ka == kb) {
    if (info(a).bits == info(b).bits) return DType::F32;  // f16 and bf16: neither holds the other
    return info(a).bits > info(b).bits ? a : b;
  }
  return kb == DTypeKind::Float ? promote_with_float(a, b) : promote_mixed_integers(a, b);
}

float f16_to_f32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000u) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1fu;
  const uint32_t fraction = bits & 0x3ffu;
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, exact in f32
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (fraction << 13));
  return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (fraction << 13));
}

uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  return static_cast<uint16_t>(((bits >> 16) & 0x8000u) | round_to_f16(bits & 0x7fffffffu));
}

float bf16_to_f32(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

double load_as_f64(DType dtype, const void* element) {
  return visit(dtype, [&]<DType D, typename T>() -> double {
    if constexpr (D == DType::F16) return f16_to_f32(read<T>(element));
    if constexpr (D == DType::BF16) return bf16_to_f32(read<T>(element));
    if constexpr (is_narrow_float(D)) return decode_narrow(D, read<T>(element));
    return static_cast<double>(read<T>(element));
  });
}

void store_from_f64(DType dtype, void* element, double value) {
  visit(dtype, [&]<DType D, typename T>() {
    if constexpr (D == DType::Bool) {
      write<T>(element, value != 0);
    } else if constexpr (D == DType::F16) {
      write<T>(element, f32_to_f16(to_f32_rounding_to_odd(value)));
    } else if constexpr (D == DType::BF16) {
      write<T>(element, f32_to_bf16(to_f32_rounding_to_odd(value)));
    } else if constexpr (is_narrow_float(D)) {
      write<T>(element, encode_narrow(D, value));
    } else if constexpr (is_storage_only(D)) {
      write<T>(element, static_cast<T>(low_bits(D, saturate_from_f64<int64_t>(value))));
    } else if constexpr (std::is_floating_point_v<T>) {
      write(element, static_cast<T>(value));
    } else {
      write(element, saturate_from_f64<T>(value));
    }
  });
}

int64_t load_as_i64(DType dtype, const void* element) {
  return visit(dtype, [&]<DType D, typename T>() -> int64_t {
    if constexpr (info(D).kind == DTypeKind::Float) {
      return saturate_from_f64<int64_t>(load_as_f64(D, element));
    } else {
      return static_cast<int64_t>(read<T>(element));
    }
  });
}

void store_from_i64(DType dtype, void* element, int64_t value) {
  visit(dtype, [&]<DType D, typename T>() {
    if constexpr (D == DType::Bool) {
      write<T>(element, value != 0);
    } else if constexpr (D == DType::F16 || D == DType::BF16 || is_narrow_float(D)) {
      store_from_f64(D, element, to_f64_rounding_to_odd(value));
    } else if constexpr (is_storage_only(D)) {
      write<T>(element, static_cast<T>(low_bits(D, value)));
    } else {
      write(element, static_cast<T>(value));
    }
  });
}

}  // namespace tenon
