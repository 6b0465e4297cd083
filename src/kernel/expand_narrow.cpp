// Floats of 8 and 4 bits, as types/narrow.cpp defines them: from their codes to f32, which holds
// all of them, and back. A code without its sign, moved to the top of f32's exponent and fraction,
// is the magnitude but for a power of two, subnormal numbers included.
#include <algorithm>
#include <cmath>
#include <limits>

#include "kernel/expand.h"
#include "types/narrow_format.h"

namespace tenon::kernel {

namespace {

constexpr int kFractionBits = 23, kBias = 127;  // of f32
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

ExprRef u32(double value) { return constant(DType::U32, value); }
ExprRef bits_of(const ExprRef& x) { return bit_cast(x, DType::U32); }
ExprRef float_of(const ExprRef& bits) { return bit_cast(bits, DType::F32); }
ExprRef is_nan(const ExprRef& x) { return pointwise(Op::Not, {equal(x, x)}); }
ExprRef as_code(const ExprRef& code, DType dtype) { return bit_cast(cast(code, DType::U8), dtype); }

// f8e8m0: a biased exponent, 255 is NaN. 2^-127 is subnormal in f32.
ExprRef decode_power(const ExprRef& code) {
  const ExprRef normal = float_of(shift_left(code, kFractionBits));
  const ExprRef power = select(equal(code, u32(0)), f32(0x1p-127), normal);
  return select(equal(code, u32(255)), f32(kNaN), power);
}

ExprRef encode_power(const ExprRef& x, NarrowRounding rounding) {
  using enum NarrowRounding::PowerOfTwo;
  constexpr int kNaNCode = 255, kLargest = 254, kRaised = 32;
  const ExprRef subnormal = less(x, f32(0x1p-126));
  const ExprRef bits = bits_of(select(subnormal, x * f32(0x1p32), x));
  const ExprRef fraction = bit_and(bits, (1 << kFractionBits) - 1);
  const ExprRef zero = constant(DType::I32, 0), one = constant(DType::I32, 1);
  ExprRef code = cast(shift_right(bits, kFractionBits), DType::I32);
  code = code - select(subnormal, constant(DType::I32, kRaised), zero);
  if (rounding.power_of_two != Down) {
    const bool up = rounding.power_of_two == Up;
    code = code + select(at_least(fraction, u32(up ? 1 : 1 << (kFractionBits - 1))), one, zero);
  }
  code = select(equal(x, f32(0)), constant(DType::I32, -1), code);
  const ExprRef low = constant(DType::I32, rounding.saturate ? 0 : kNaNCode);
  const ExprRef high = constant(DType::I32, rounding.saturate ? kLargest : kNaNCode);
  code =
      select(less(constant(DType::I32, kLargest), code), high, select(less(code, zero), low, code));
  const ExprRef bad = pointwise(Op::Or, {is_nan(x), less(x, f32(0))});
  return select(bad, constant(DType::I32, kNaNCode), code);
}

}  // namespace

ExprRef decode_narrow(const ExprRef& x) {
  const ExprRef code = cast(bit_cast(x, DType::U8), DType::U32);
  if (x->dtype == DType::F8E8M0) return decode_power(code);
  const NarrowFormat& format = narrow_format(x->dtype);
  const ExprRef plain = bit_and(code, (1 << format.sign_at) - 1);
  const ExprRef sign =
      shift_left(bit_and(code, 1 << format.sign_at), kFractionBits + 8 - format.sign_at);
  const ExprRef scale = f32(std::ldexp(1.0, kBias - format.bias));
  ExprRef value = float_of(shift_left(plain, kFractionBits - format.fraction_bits)) * scale;
  if (format.infinity >= 0) {
    value = select(equal(plain, u32(format.infinity)), f32(std::numeric_limits<double>::infinity()),
                   value);
  }
  const int last = std::max(format.largest, format.infinity);
  if (last < (1 << format.sign_at) - 1) value = select(less(u32(last), plain), f32(kNaN), value);
  const ExprRef result = float_of(bit_or(bits_of(value), sign));
  return format.nan < 0 ? result : select(equal(code, u32(format.nan)), f32(kNaN), result);
}

ExprRef encode_narrow(const ExprRef& source, DType to, NarrowRounding rounding) {
  const ExprRef x = odd_f32(source);
  if (to == DType::F8E8M0) return as_code(encode_power(x, rounding), to);
  const NarrowFormat& format = narrow_format(to);
  const ExprRef bits = bits_of(x);
  const ExprRef sign = shift_left(shift_right(bits, 31), format.sign_at);
  // Steps of the grid at the number's exponent, at least that of the smallest normal number.
  const int smallest = kBias + 1 - format.bias;
  const ExprRef own = bit_and(shift_right(bits, kFractionBits), 255);
  const ExprRef exponent = pointwise(Op::Max, {own, u32(smallest)});
  const ExprRef scale =
      float_of(shift_left(u32(2 * kBias + format.fraction_bits) - exponent, kFractionBits));
  const ExprRef steps = pointwise(Op::Round, {magnitude(x) * scale});
  // A carry out of the fraction moves into the exponent, which is what rounding up means.
  ExprRef code = shift_left(exponent - u32(smallest), format.fraction_bits) +
                 cast(cast(steps, DType::I32), DType::U32);
  const bool saturate = rounding.saturate || format.nan < 0;
  const int over = saturate ? format.largest : format.infinity >= 0 ? format.infinity : format.nan;
  code = select(less(u32(format.largest), code), u32(over), code);
  const ExprRef signed_code = bit_or(code, sign);
  ExprRef result =
      format.has_minus_zero ? signed_code : select(equal(code, u32(0)), u32(0), signed_code);
  const ExprRef nan = format.nan < 0 ? u32(0) : bit_or(u32(format.nan), sign);
  return as_code(select(equal(x, x), result, nan), to);
}

}  // namespace tenon::kernel
