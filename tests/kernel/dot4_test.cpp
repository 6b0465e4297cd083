// The product of groups of four bytes, against arithmetic done by hand; that generated code gives
// the same bits is shown in tests/codegen.
#include "kernel/dot4.h"

#include <gtest/gtest.h>

#include <limits>

#include "kernel/kernel.h"
#include "tenon/error.h"

namespace tenon::kernel {
namespace {

uint32_t bytes(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
  return (a & 255) | (b & 255) << 8 | (c & 255) << 16 | d << 24;
}

TEST(Dot4, AddsFourProductsOfBytesWithoutAndWithSign) {
  const uint32_t a = bytes(1, 20, 255, 128);
  const uint32_t b = bytes(7, static_cast<uint32_t>(-3), 127, static_cast<uint32_t>(-128));
  EXPECT_EQ(dot4(a, b, 1000), 7 - 60 + 255 * 127 - 128 * 128 + 1000);
}

// Two products of the largest bytes do not fit into 16 bits, four do not saturate.
TEST(Dot4, NothingSaturates) {
  const uint32_t most = 0xffffffff, least = 0x80808080;
  EXPECT_EQ(dot4(most, 0x7f7f7f7f, 0), 4 * 255 * 127);
  EXPECT_EQ(dot4(most, least, 0), -4 * 255 * 128);
}

TEST(Dot4, SumsWrap) {
  EXPECT_EQ(dot4(1, 1, std::numeric_limits<int32_t>::max()), std::numeric_limits<int32_t>::min());
}

constexpr const char* kDot = R"(kernel dot lowered dims n: 1..4096
  buffer a: u32[n] global argument 0
  buffer b: u32[n] global argument 1
  buffer y: i32[1] global argument 2 written
  y[0] = reduce_dot4(k in n, a[k], b[k], i32(5))
)";

TEST(Dot4, AContractionAddsAllOfThem) {
  const Kernel kernel = parse(kDot);
  verify(kernel);
  EXPECT_EQ(print(parse(print(kernel))), print(kernel));
  std::vector<uint32_t> a(300, bytes(1, 2, 3, 4)), b(300, bytes(1, 1, 1, 1));
  int32_t y = 0;
  void* const buffers[] = {a.data(), b.data(), &y};
  const int64_t dims[] = {300};
  interpret(kernel, buffers, dims, nullptr);
  EXPECT_EQ(y, 5 + 300 * 10);
}

TEST(Dot4, OtherOperandsAreRefused) {
  for (const auto& [from, to] : {std::pair{"a: u32", "a: i32"}, {"i32(5)", "f32(5)"}}) {
    std::string text = kDot;
    text.replace(text.find(from), 6, to);
    EXPECT_THROW(verify(parse(text)), Error);
  }
}

}  // namespace
}  // namespace tenon::kernel
