// Floats of 8 and 4 bits. Expected codes are from the ml_dtypes package, those of values out of
// range from the tables of ONNX Cast.
#include "types/narrow.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tenon {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr DType kFloats[] = {DType::F8E4M3FN,   DType::F8E4M3FNUZ, DType::F8E5M2,
                             DType::F8E5M2FNUZ, DType::F8E8M0,     DType::F4E2M1};

TEST(NarrowFloat, EachCodeIsTheNearestOfItsOwnValue) {
  for (const DType dtype : kFloats) {
    for (int code = 0; code < 1 << info(dtype).bits; ++code) {
      const double value = decode_narrow(dtype, static_cast<uint8_t>(code));
      if (std::isnan(value) || std::isinf(value)) continue;
      EXPECT_EQ(encode_narrow(dtype, value), code) << to_string(dtype);
    }
  }
}

TEST(NarrowFloat, HasTheRangeOfItsFormat) {
  EXPECT_EQ(decode_narrow(DType::F8E4M3FN, 0x7e), 448);
  EXPECT_EQ(decode_narrow(DType::F8E4M3FN, 0x01), 0x1p-9);
  EXPECT_EQ(decode_narrow(DType::F8E4M3FNUZ, 0x7f), 240);
  EXPECT_EQ(decode_narrow(DType::F8E4M3FNUZ, 0x81), -0x1p-10);
  EXPECT_EQ(decode_narrow(DType::F8E5M2, 0x7b), 57344);
  EXPECT_EQ(decode_narrow(DType::F8E5M2, 0xfc), -kInf);
  EXPECT_EQ(decode_narrow(DType::F8E5M2FNUZ, 0x7f), 57344);
  EXPECT_EQ(decode_narrow(DType::F8E8M0, 0), 0x1p-127);
  EXPECT_EQ(decode_narrow(DType::F8E8M0, 254), 0x1p127);
  EXPECT_EQ(decode_narrow(DType::F4E2M1, 0xf), -6);
  EXPECT_TRUE(std::isnan(decode_narrow(DType::F8E4M3FN, 0xff)));
  EXPECT_TRUE(std::isnan(decode_narrow(DType::F8E4M3FNUZ, 0x80)));
  EXPECT_TRUE(std::isnan(decode_narrow(DType::F8E5M2, 0x7d)));
  EXPECT_TRUE(std::isnan(decode_narrow(DType::F8E8M0, 255)));
}

TEST(NarrowFloat, RoundsHalvesToEven) {
  EXPECT_EQ(decode_narrow(DType::F8E4M3FN, encode_narrow(DType::F8E4M3FN, 1.0625)), 1.0);
  EXPECT_EQ(decode_narrow(DType::F8E4M3FN, encode_narrow(DType::F8E4M3FN, 1.1875)), 1.25);
  EXPECT_EQ(decode_narrow(DType::F8E4M3FN, encode_narrow(DType::F8E4M3FN, 0x1p-10)), 0.0);
  EXPECT_EQ(decode_narrow(DType::F8E4M3FN, encode_narrow(DType::F8E4M3FN, 0x1.8p-9)), 0x1p-8);
  EXPECT_EQ(decode_narrow(DType::F4E2M1, encode_narrow(DType::F4E2M1, 2.5)), 2.0);
  EXPECT_EQ(decode_narrow(DType::F4E2M1, encode_narrow(DType::F4E2M1, -3.5)), -4.0);
  EXPECT_EQ(decode_narrow(DType::F4E2M1, encode_narrow(DType::F4E2M1, 0.25)), 0.0);
}

TEST(NarrowFloat, SaturatesOrOverflows) {
  const NarrowRounding overflow{.saturate = false};
  EXPECT_EQ(encode_narrow(DType::F8E4M3FN, 464), 0x7e);  // a tie, to even
  EXPECT_EQ(encode_narrow(DType::F8E4M3FN, 464, overflow), 0x7e);
  EXPECT_EQ(encode_narrow(DType::F8E4M3FN, 465, overflow), 0x7f);
  EXPECT_EQ(encode_narrow(DType::F8E4M3FN, -kInf), 0xfe);
  EXPECT_EQ(encode_narrow(DType::F8E5M2, 1e6), 0x7b);
  EXPECT_EQ(encode_narrow(DType::F8E5M2, -1e6, overflow), 0xfc);
  EXPECT_EQ(encode_narrow(DType::F8E5M2, kInf, overflow), 0x7c);
  EXPECT_EQ(encode_narrow(DType::F8E5M2FNUZ, -kInf, overflow), 0x80);
  EXPECT_EQ(encode_narrow(DType::F4E2M1, 1e30, overflow), 0x7);
  EXPECT_EQ(encode_narrow(DType::F8E4M3FNUZ, -0.0), 0);
  EXPECT_EQ(encode_narrow(DType::F8E4M3FN, -0.0), 0x80);
  EXPECT_EQ(encode_narrow(DType::F8E4M3FNUZ, -1e-9), 0);
  EXPECT_EQ(encode_narrow(DType::F8E4M3FN, kNaN), 0x7f);
  EXPECT_EQ(encode_narrow(DType::F4E2M1, kNaN), 0);
}

TEST(NarrowFloat, PowersOfTwoRoundAsAsked) {
  using enum NarrowRounding::PowerOfTwo;
  const auto power = [](double value, NarrowRounding rounding) {
    return decode_narrow(DType::F8E8M0, encode_narrow(DType::F8E8M0, value, rounding));
  };
  EXPECT_EQ(power(1.1, {}), 2);
  EXPECT_EQ(power(1.1, {.power_of_two = Down}), 1);
  EXPECT_EQ(power(1.5, {.power_of_two = Nearest}), 2);
  EXPECT_EQ(power(1.49, {.power_of_two = Nearest}), 1);
  EXPECT_EQ(power(0, {}), 0x1p-127);
  EXPECT_EQ(power(kInf, {}), 0x1p127);
  EXPECT_TRUE(std::isnan(power(0, {.saturate = false})));
  EXPECT_TRUE(std::isnan(power(1e39, {.saturate = false})));
  EXPECT_TRUE(std::isnan(power(-1, {})));
}

TEST(NarrowInteger, KeepsTheLowBits) {
  const auto stored = [](DType dtype, double value) {
    int64_t memory = 0;
    store_from_f64(dtype, &memory, value);
    return load_as_i64(dtype, &memory);
  };
  EXPECT_EQ(stored(DType::I4, 8), -8);
  EXPECT_EQ(stored(DType::I4, -9), 7);
  EXPECT_EQ(stored(DType::U4, -1), 15);
  EXPECT_EQ(stored(DType::I2, 3.9), -1);
  EXPECT_EQ(stored(DType::U2, 6), 2);
  EXPECT_EQ(size_of(DType::U2), 1);
}

}  // namespace
}  // namespace tenon
