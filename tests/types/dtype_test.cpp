// Element types: the small floats exhaustively, against the definition of their bits; promotion
// against NumPy's table; single elements against C++ conversions.
#include "tenon/dtype.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tenon {
namespace {

// The value that the bits stand for, by the IEEE definition, in f64.
double by_definition(uint16_t bits, int exponent_bits, int fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = bits & ((1 << fraction_bits) - 1);
  double value;
  if (exponent == (1 << exponent_bits) - 1) {
    value = fraction == 0 ? std::numeric_limits<double>::infinity()
                          : std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = std::ldexp(fraction, 1 - bias - fraction_bits);
  } else {
    value = std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  }
  return bits & 0x8000 ? -value : value;
}

// Nearest of all finite values by search, ties to the even bits; what rounds past the largest is
// Inf.
uint16_t nearest(double value, int exponent_bits, int fraction_bits) {
  if (std::signbit(value)) return 0x8000 | nearest(-value, exponent_bits, fraction_bits);
  const auto infinity = static_cast<uint16_t>(((1 << exponent_bits) - 1) << fraction_bits);
  uint16_t lo = 0, hi = infinity;  // value lies in [lo, hi): positive bits are in order
  while (hi - lo > 1) {
    const auto mid = static_cast<uint16_t>((lo + hi) / 2);
    (by_definition(mid, exponent_bits, fraction_bits) <= value ? lo : hi) = mid;
  }
  const double below = by_definition(lo, exponent_bits, fraction_bits);
  const double above = hi == infinity ? std::ldexp(1.0, 1 << (exponent_bits - 1))
                                      : by_definition(hi, exponent_bits, fraction_bits);
  if (value - below != above - value) return value - below < above - value ? lo : hi;
  return lo % 2 == 0 ? lo : hi;
}

TEST(SmallFloats, EveryBitPatternHasItsDefinedValueAndRoundTrips) {
  for (int pattern = 0; pattern < 65536; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    const float half = f16_to_f32(bits), brain = bf16_to_f32(bits);
    const double half_defined = by_definition(bits, 5, 10);
    const double brain_defined = by_definition(bits, 8, 7);
    if (std::isnan(half_defined)) {
      ASSERT_TRUE(std::isnan(half) && std::isnan(f16_to_f32(f32_to_f16(half))));
    } else {
      ASSERT_EQ(half, half_defined);
      ASSERT_EQ(f32_to_f16(half), bits);
    }
    if (std::isnan(brain_defined)) {
      ASSERT_TRUE(std::isnan(brain) && std::isnan(bf16_to_f32(f32_to_bf16(brain))));
    } else {
      ASSERT_EQ(brain, brain_defined);
      ASSERT_EQ(f32_to_bf16(brain), bits);
    }
  }
}

float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

TEST(SmallFloats, RoundToTheNearestTiesToEven) {
  std::mt19937 random(3);
  std::vector<uint32_t> patterns = {0,          1,          0x33000000, 0x33000001, 0x32ffffff,
                                    0x477fefff, 0x477ff000, 0x477fffff, 0x47800000, 0x7f7fffff,
                                    0x7f800000, 0x387fe000, 0x387ff000, 0x38800000, 0x00007fff,
                                    0x00008000, 0x00018000, 0x7f7f7fff, 0x7f7f8000};
  for (int n = 0; n < 300'000; ++n) {
    uint32_t bits = random();
    if (n % 3 == 0) bits = (bits & 0x80ffffffu) | ((0x60 + bits % 0x30) << 23);  // near f16's range
    if (n % 5 == 0) bits &= 0xfffff000u;                                         // ties
    if (n % 7 == 0) bits = (bits & 0xffff0000u) | 0x8000u;
    patterns.push_back(bits);
  }
  for (const uint32_t bits : patterns) {
    const float value = float_of(bits);
    if (std::isnan(value)) {
      ASSERT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value))));
      ASSERT_TRUE(std::isnan(bf16_to_f32(f32_to_bf16(value))));
      continue;
    }
    const double clamped = std::isinf(value) ? std::copysign(1e300, value) : value;
    ASSERT_EQ(f32_to_f16(value), nearest(clamped, 5, 10)) << value;
    ASSERT_EQ(f32_to_bf16(value), nearest(clamped, 8, 7)) << value;
  }
}

TEST(SmallFloats, StoringAnF64RoundsOnce) {
  // Just above the tie between 1 and 1 + 2^-10; an f32 in between would land on the tie and go
  // down.
  const double value = 1 + 0x1p-11 + 0x1p-40;
  uint16_t bits = 0;
  store_from_f64(DType::F16, &bits, value);
  EXPECT_EQ(f16_to_f32(bits), 1 + 0x1p-10f);
  store_from_f64(DType::F16, &bits, 1 + 0x1p-11 + 0x1.cp-24);  // the nearest f32 is above it
  EXPECT_EQ(f16_to_f32(bits), 1 + 0x1p-10f);
  store_from_f64(DType::BF16, &bits, 1 + 0x1p-8 + 0x1p-40);
  EXPECT_EQ(bf16_to_f32(bits), 1 + 0x1p-7f);
  std::mt19937_64 random(5);
  for (int n = 0; n < 100'000; ++n) {
    const double wide =
        std::ldexp(static_cast<double>(random() >> 11), static_cast<int>(random() % 60) - 90);
    store_from_f64(DType::F16, &bits, wide);
    ASSERT_EQ(bits, nearest(wide, 5, 10)) << wide;
    store_from_f64(DType::BF16, &bits, -wide);
    ASSERT_EQ(bits, nearest(-wide, 8, 7)) << wide;
  }
  store_from_i64(DType::BF16, &bits, (int64_t{1} << 60) + (int64_t{1} << 52) + 1);
  EXPECT_EQ(bf16_to_f32(bits), 0x1p60f + 0x1p53f);
}

TEST(DType, PromotesAsNumPyDoes) {
  const auto is = [](DType a, DType b, DType expected) {
    EXPECT_EQ(promote(a, b), expected) << to_string(a) << " " << to_string(b);
    EXPECT_EQ(promote(b, a), expected) << to_string(b) << " " << to_string(a);
  };
  is(DType::Bool, DType::Bool, DType::Bool);
  is(DType::Bool, DType::U8, DType::U8);
  is(DType::Bool, DType::F16, DType::F16);
  is(DType::U8, DType::I8, DType::I16);
  is(DType::U16, DType::I8, DType::I32);
  is(DType::U16, DType::I64, DType::I64);
  is(DType::U32, DType::I32, DType::I64);
  is(DType::U64, DType::I64, DType::F64);
  is(DType::U64, DType::I8, DType::F64);
  is(DType::I32, DType::I64, DType::I64);
  is(DType::U8, DType::U32, DType::U32);
  is(DType::I8, DType::F16, DType::F16);
  is(DType::I16, DType::F16, DType::F32);
  is(DType::U16, DType::F32, DType::F32);
  is(DType::I32, DType::F16, DType::F64);
  is(DType::I32, DType::F32, DType::F64);
  is(DType::I64, DType::F32, DType::F64);
  is(DType::F32, DType::F64, DType::F64);
  is(DType::F16, DType::F32, DType::F32);
  is(DType::BF16, DType::F32, DType::F32);
  is(DType::F16, DType::BF16, DType::F32);
}

TEST(DType, NamesAndOnnxNumbersReadBack) {
  for (size_t n = 0; n < std::size(kDTypes); ++n) {
    const auto dtype = static_cast<DType>(n);
    EXPECT_EQ(parse_dtype(to_string(dtype)), dtype);
    EXPECT_EQ(dtype_from_onnx(info(dtype).onnx), dtype);
  }
  EXPECT_EQ(parse_dtype("f31"), std::nullopt);
  EXPECT_EQ(dtype_from_onnx(8), std::nullopt);  // string
}

TEST(DType, FloatsBecomeIntegersByTruncationAndSaturation) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto stored = [](DType dtype, double value) {
    int64_t memory = 0;
    store_from_f64(dtype, &memory, value);
    return load_as_i64(dtype, &memory);
  };
  EXPECT_EQ(stored(DType::I32, -2.9), -2);
  EXPECT_EQ(stored(DType::I8, 1000), 127);
  EXPECT_EQ(stored(DType::I8, -1000), -128);
  EXPECT_EQ(stored(DType::U8, -1), 0);
  EXPECT_EQ(stored(DType::U16, 1e9), 65535);
  EXPECT_EQ(stored(DType::I64, 1e300), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(stored(DType::I64, -1e300), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(stored(DType::U64, 1e300), -1);  // the largest u64, seen as i64
  EXPECT_EQ(stored(DType::I32, nan), 0);
  EXPECT_EQ(stored(DType::Bool, 0.5), 1);
  EXPECT_EQ(stored(DType::Bool, nan), 1);
  EXPECT_EQ(stored(DType::F16, 2.75), 2);
}

TEST(DType, IntegersKeepTheirLowBits) {
  const auto stored = [](DType dtype, int64_t value) {
    int64_t memory = 0;
    store_from_i64(dtype, &memory, value);
    return load_as_i64(dtype, &memory);
  };
  EXPECT_EQ(stored(DType::U8, 300), 44);
  EXPECT_EQ(stored(DType::I8, 200), -56);
  EXPECT_EQ(stored(DType::U64, -1), -1);
  EXPECT_EQ(stored(DType::I64, (int64_t{1} << 53) + 1), (int64_t{1} << 53) + 1);
  EXPECT_EQ(stored(DType::Bool, -7), 1);
  EXPECT_EQ(stored(DType::F32, 7), 7);
}

}  // namespace
}  // namespace tenon
