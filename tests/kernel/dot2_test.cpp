// The product of pairs, against arithmetic done by hand; that generated code gives the same bits is
// shown in tests/codegen.
#include "kernel/dot2.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "kernel/in_place.h"
#include "kernel/kernel.h"
#include "tenon/error.h"

namespace tenon::kernel {
namespace {

// Numbers that bf16 has.
uint32_t pair(float first, float second) {
  return std::bit_cast<uint32_t>(first) >> 16 | (std::bit_cast<uint32_t>(second) & 0xffff0000U);
}

TEST(Dot2, AddsBothProducts) {
  EXPECT_EQ(dot2(pair(2, 3), pair(5, -7), 0.5F), 2 * 5 - 3 * 7 + 0.5F);
}

// 2^24 + 1 is 2^24 in f32: a product that meets it alone is lost, one that comes after is not.
TEST(Dot2, TheSecondElementsComeFirst) {
  EXPECT_EQ(dot2(pair(-0x1p12F, 1), pair(0x1p12F, 1), 0x1p24F), 0);
  EXPECT_EQ(dot2(pair(1, -0x1p12F), pair(1, 0x1p12F), 0x1p24F), 1);
}

// (1 + 2^-7)^2 - 1 needs 15 bits, and with 2^-20 beside it more than f32 has before the sum.
TEST(Dot2, ProductsAreNotRounded) {
  const float x = 1 + 0x1p-7F;
  EXPECT_EQ(dot2(pair(x, 0), pair(x, 0), -1), 0x1p-6F + 0x1p-14F);
  EXPECT_EQ(dot2(pair(x, 0), pair(x, 0), 0x1p-24F), x * x);  // half of the last place: to even
}

TEST(Dot2, DenormalNumbersAreZeros) {
  const float denormal = 0x1p-127F;
  EXPECT_EQ(dot2(pair(denormal, 0), pair(0x1p100F, 0), 0), 0);
  EXPECT_EQ(dot2(0, 0, denormal), 0);
  EXPECT_EQ(dot2(pair(0x1p-70F, 0), pair(0x1p-60F, 0), 0), 0);
  EXPECT_TRUE(std::signbit(dot2(pair(-0x1p-70F, -0.0F), pair(0x1p-60F, 0), -0.0F)));
}

TEST(Dot2, InfinityAndNaNComeThrough) {
  const float inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(dot2(pair(inf, 1), pair(2, 1), 0), inf);
  EXPECT_TRUE(std::isnan(dot2(pair(inf, 1), pair(0, 1), 0)));
}

constexpr const char* kDot = R"(kernel dot lowered dims n: 1..4096
  buffer a: u32[n] global argument 0
  buffer b: u32[n] global argument 1
  buffer y: f32[1] global argument 2 written
  y[0] = reduce_dot2(k in n, a[k], b[k], f32(0.5))
)";

TEST(Dot2, AContractionAddsChunkByChunk) {
  const Kernel kernel = parse(kDot);
  verify(kernel);
  EXPECT_EQ(print(parse(print(kernel))), print(kernel));
  // The first chunk ends at 2^24, where ones are lost; those of the next one are added as one sum.
  std::vector<uint32_t> a(2 * kContractionChunk, pair(1, 0)), b = a;
  a[0] = b[0] = pair(0x1p12F, 0);
  float y = 0;
  void* const buffers[] = {a.data(), b.data(), &y};
  const int64_t dims[] = {2 * kContractionChunk};
  interpret(kernel, buffers, dims, nullptr);
  EXPECT_EQ(y, 0x1p24F + kContractionChunk);
}

TEST(Dot2, OtherOperandsAreRefused) {
  std::string text = kDot;
  text.replace(text.find("a: u32"), 6, "a: f32");
  EXPECT_THROW(verify(parse(text)), Error);
}

// x is read as pairs by the product and as elements by the sum: its memory cannot become y's.
TEST(Dot2, WhatIsReadAsPairsIsNotOverwritten) {
  const Kernel kernel = parse(R"(kernel square scheduled
  buffer x: bf16[32] global argument 0
  buffer x_pairs: u32[16] global argument 0
  buffer y: bf16[32] global argument 1 written
  buffer acc: f32[16] register
  thread t in 1
    vector l in 16
      acc[l] = f32(0)
    loop k in 16
      mma i in 1, j in 16: acc += dot2(x_pairs[k], u32(1))
    vector l in 16
      y[l] = x[l]
)");
  EXPECT_EQ(in_place_pairs(kernel).size(), 0u);
}

}  // namespace
}  // namespace tenon::kernel
