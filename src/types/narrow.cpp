// The formats differ in the width of exponent and fraction, in the bias, and in which codes are Inf
// and NaN. A magnitude is `significand << 0` on a grid of steps that doubles with each exponent, so
// codes of one sign are ordered as their values and rounding is on integers.
#include "types/narrow.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "types/narrow_format.h"

namespace tenon {
namespace {

constexpr NarrowFormat kFormats[] = {
    {DType::F8E4M3FN, 3, 7, 0x7e, -1, 0x7f, 7, true},
    {DType::F8E4M3FNUZ, 3, 8, 0x7f, -1, 0x80, 7, false},
    {DType::F8E5M2, 2, 15, 0x7b, 0x7c, 0x7e, 7, true},
    {DType::F8E5M2FNUZ, 2, 16, 0x7f, -1, 0x80, 7, false},
    {DType::F4E2M1, 1, 1, 0x7, -1, -1, 3, true},
};

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr int kPowerBias = 127, kPowerNaN = 255, kPowerLargest = 254;

uint8_t encode_power_of_two(double value, NarrowRounding rounding) {
  using enum NarrowRounding::PowerOfTwo;
  if (std::isnan(value) || value < 0) return kPowerNaN;
  int code = value == 0 ? -1 : kPowerLargest + 1;
  if (value != 0 && !std::isinf(value)) {
    const int exponent = std::ilogb(value);
    const double significand = std::ldexp(value, -exponent);  // 1 .. 2
    const bool up = rounding.power_of_two == Up        ? significand > 1
                    : rounding.power_of_two == Nearest ? significand >= 1.5
                                                       : false;
    code = exponent + kPowerBias + (up ? 1 : 0);
  }
  if (!rounding.saturate && (code < 0 || code > kPowerLargest)) return kPowerNaN;
  return static_cast<uint8_t>(std::clamp(code, 0, kPowerLargest));
}

// The code of a magnitude on the grid of the format; beyond `largest` where it overflows.
int magnitude_code(const NarrowFormat& format, double magnitude) {
  const int smallest = 1 - format.bias;  // exponent of the smallest normal number
  const int exponent = std::max(std::ilogb(magnitude), smallest);
  if (exponent - smallest > 64) return format.largest + 1;
  const double steps = std::ldexp(magnitude, format.fraction_bits - exponent);
  // A carry out of the fraction moves into the exponent, which is what rounding up means.
  return ((exponent - smallest) << format.fraction_bits) + static_cast<int>(std::nearbyint(steps));
}

}  // namespace

const NarrowFormat& narrow_format(DType dtype) {
  const auto* found = std::ranges::find(kFormats, dtype, &NarrowFormat::dtype);
  TENON_CHECK(found != std::end(kFormats), "{} is no narrow float", to_string(dtype));
  return *found;
}

double decode_narrow(DType dtype, uint8_t bits) {
  if (dtype == DType::F8E8M0) {
    return bits == kPowerNaN ? kNaN : std::ldexp(1.0, bits - kPowerBias);
  }
  const NarrowFormat& format = narrow_format(dtype);
  const int sign_bit = 1 << format.sign_at;
  const bool negative = (bits & sign_bit) != 0;
  const int code = bits & (sign_bit - 1);
  const double sign = negative ? -1.0 : 1.0;
  if (bits == format.nan) return kNaN;
  if (code == format.infinity) return sign * std::numeric_limits<double>::infinity();
  if (code > format.largest) return std::copysign(kNaN, sign);
  const int exponent = code >> format.fraction_bits;
  const int fraction = code & ((1 << format.fraction_bits) - 1);
  const int significand = exponent == 0 ? fraction : fraction + (1 << format.fraction_bits);
  return sign * std::ldexp(significand, std::max(exponent, 1) - format.bias - format.fraction_bits);
}

uint8_t encode_narrow(DType dtype, double value, NarrowRounding rounding) {
  if (dtype == DType::F8E8M0) return encode_power_of_two(value, rounding);
  const NarrowFormat& format = narrow_format(dtype);
  const int sign = std::signbit(value) ? 1 << format.sign_at : 0;
  if (std::isnan(value)) return static_cast<uint8_t>(format.nan < 0 ? 0 : format.nan | sign);
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return static_cast<uint8_t>(format.has_minus_zero ? sign : 0);
  int code = std::isinf(value) ? format.largest + 1 : magnitude_code(format, magnitude);
  if (code > format.largest) {
    const bool saturate = rounding.saturate || format.nan < 0;
    code = saturate ? format.largest : format.infinity >= 0 ? format.infinity : format.nan;
  }
  return static_cast<uint8_t>(code == 0 && !format.has_minus_zero ? 0 : code | sign);
}

}  // namespace tenon
