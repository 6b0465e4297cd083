// The interpreter against arithmetic done by hand, and scheduled kernels against lowered ones to
// the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernel/kernel.h"
#include "tenon/error.h"
#include "tests/kernel/texts.h"

namespace tenon::kernel {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

void run(const Kernel& kernel, std::vector<void*> buffers, std::vector<int64_t> dims = {},
         int64_t* fault = nullptr) {
  verify(kernel);
  buffers.resize(kernel.buffers.size(), nullptr);
  interpret(kernel, buffers, dims, fault);
}

uint32_t bits(float x) {
  uint32_t result = 0;
  std::memcpy(&result, &x, sizeof x);
  return result;
}

std::vector<float> noise(size_t count, uint32_t seed) {
  std::vector<float> values;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    values.push_back(static_cast<float>(static_cast<int32_t>(seed)) * 0x1p-30f);
  }
  return values;
}

TEST(KernelInterpret, GuardsKeepAccessesInside) {
  std::vector<float> x(19);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 9;
  std::vector<float> y(20, 77);  // one more than the kernel may touch
  run(parse(texts::kGuarded), {x.data(), y.data()}, {19});
  for (size_t i = 0; i < 19; ++i) EXPECT_EQ(y[i], std::max(x[i], 0.0f));
  EXPECT_EQ(y[19], 77);
}

TEST(KernelInterpret, SoftmaxOfARow) {
  std::vector<float> x = {0, std::log(2.0f), std::log(5.0f), 1000, 1000, 1000};
  std::vector<float> y(6);
  run(parse(texts::kSoftmax), {x.data(), y.data()}, {2, 3});
  const float expected[] = {1 / 8.0f, 2 / 8.0f, 5 / 8.0f, 1 / 3.0f, 1 / 3.0f, 1 / 3.0f};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(y[i], expected[i], 1e-7f);
}

// 2^24 + 1 is 2^24 in f32, so the sum tells which elements met first: lanes 0 and 8 do.
TEST(KernelInterpret, LanesCombineInHalvesOfEightFourTwoOne) {
  std::vector<float> x(16, 0);
  x[0] = 0x1p24f;
  x[8] = -0x1p24f;
  x[1] = 1;
  std::vector<float> y(1);
  const Kernel k = parse(texts::kRowSum);
  run(k, {x.data(), y.data()}, {16});
  EXPECT_EQ(y[0], 1);  // 0 and 8 cancel first
  std::swap(x[8], x[4]);
  x[12] = 1;  // meets 4 before 4 meets 0: -2^24 + 1 is exact
  run(k, {x.data(), y.data()}, {16});
  EXPECT_EQ(y[0], 2);
  std::swap(x[4], x[1]);  // 1 at 4 joins 0 and is lost before -2^24 at 1 does
  x[12] = 0;
  run(k, {x.data(), y.data()}, {16});
  EXPECT_EQ(y[0], 0);
}

TEST(KernelInterpret, LoweredReductionsGiveTheBitsOfLaneAccumulators) {
  const Kernel lowered = parse(
      "kernel sum lowered dims n: 1..4096\n"
      "  buffer x: f32[n] global argument 0\n"
      "  buffer y: f32[2] global argument 1 written\n"
      "  y[0] = reduce_add(k in n, x[k])\n"
      "  y[1] = reduce_max(k in n, x[k])\n");
  for (const int64_t n : {1, 15, 16, 17, 100, 1000}) {
    std::vector<float> x = noise(static_cast<size_t>(n), 7);
    std::vector<float> a(2), b(1);
    run(lowered, {x.data(), a.data()}, {n});
    run(parse(texts::kRowSum), {x.data(), b.data()}, {n});
    EXPECT_EQ(bits(a[0]), bits(b[0])) << n;
    EXPECT_EQ(a[1], *std::max_element(x.begin(), x.end()));
  }
}

// 17 elements are two chunks; lanes 1 to 15 of the second hold the identity, and max(NaN, -inf) is
// -inf.
TEST(KernelInterpret, TailsAreMaskedWithTheIdentity) {
  std::vector<float> x(17, 1), y(1);
  x[5] = kNaN;
  const Kernel k = parse(
      "kernel sum lowered dims n: 1..4096\n"
      "  buffer x: f32[n] global argument 0\n"
      "  buffer y: f32[1] global argument 1 written\n"
      "  y[0] = reduce_max(k in n, x[k])\n");
  run(k, {x.data(), y.data()}, {17});
  EXPECT_EQ(y[0], 1);
  run(k, {x.data(), y.data()}, {6});
  EXPECT_EQ(y[0], 1);
}

TEST(KernelInterpret, ReductionsOverNothingGiveTheIdentity) {
  std::vector<float> y(3);
  run(parse("kernel none lowered dims n: 0..4\n"
            "  buffer y: f32[3] global argument 0 written\n"
            "  y[0] = reduce_add(k in n, y[k])\n"
            "  y[1] = reduce_max(k in n, y[k])\n"
            "  y[2] = reduce_fma(k in n, y[k], y[k], f32(5))\n"),
      {y.data()}, {0});
  EXPECT_EQ(y, (std::vector<float>{0, -kInf, 5}));
}

TEST(KernelInterpret, ATiledContractionGivesTheBitsOfPlainLoops) {
  for (const int64_t m : {1, 2, 3, 4, 5, 6, 7, 13, 25}) {
    const auto rows = static_cast<size_t>(m);
    std::vector<float> x = noise(rows * 8, 1), w = noise(256, 2), b = noise(32, 3);
    std::vector<float> lowered(rows * 32), tiled(rows * 32);
    run(parse(texts::kLinear), {x.data(), w.data(), b.data(), lowered.data()}, {m});
    run(parse(texts::kLinearTiled), {x.data(), w.data(), b.data(), tiled.data()}, {m});
    for (size_t i = 0; i < rows; ++i) {
      for (size_t j = 0; j < 32; ++j) {
        float sum = b[j];
        for (size_t k = 0; k < 8; ++k) sum = std::fma(x[i * 8 + k], w[k * 32 + j], sum);
        sum = sum > 0 ? sum : 0;
        EXPECT_EQ(bits(lowered[i * 32 + j]), bits(sum));
        EXPECT_EQ(bits(tiled[i * 32 + j]), bits(sum)) << m << " rows, element " << i << ", " << j;
      }
    }
  }
}

TEST(KernelInterpret, GatherCountsNegativeIndicesFromTheEndAndReportsOthers) {
  std::vector<float> table(32);
  for (size_t i = 0; i < 32; ++i) table[i] = static_cast<float>(i);
  std::vector<int64_t> ids = {3, -1, -8, 7};
  std::vector<float> y(16);
  int64_t fault[3] = {0, 0, 0};
  const Kernel k = parse(texts::kGather);
  run(k, {table.data(), ids.data(), y.data()}, {4}, fault);
  EXPECT_EQ(fault[0], 0);
  EXPECT_EQ(y, (std::vector<float>{12, 13, 14, 15, 28, 29, 30, 31, 0, 1, 2, 3, 28, 29, 30, 31}));
  ids = {1, 8, -9, 2};
  run(k, {table.data(), ids.data(), y.data()}, {4}, fault);
  EXPECT_EQ(fault[0], 1);  // buffer 0
  EXPECT_EQ(fault[1], 8);  // the first of them
  EXPECT_EQ(fault[2], 8);
  EXPECT_EQ(y, (std::vector<float>{4, 5, 6, 7, 0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11}));
}

TEST(KernelInterpret, LanesOfAVectorLoopGatherOnTheirOwn) {
  std::vector<float> table(16), y(16);
  std::vector<int64_t> ids(16);
  for (size_t i = 0; i < 16; ++i) table[i] = static_cast<float>(i * i), ids[i] = 15 - int64_t(i);
  run(parse("kernel lanes scheduled\n"
            "  buffer table: f32[16] global argument 0\n"
            "  buffer ids: i64[16] global argument 1\n"
            "  buffer y: f32[16] global argument 2 written\n"
            "  thread t in 1\n"
            "    vector l in 16\n"
            "      let g in 16 of table = ids[l]\n"
            "      y[l] = table[g]\n"),
      {table.data(), ids.data(), y.data()});
  for (size_t i = 0; i < 16; ++i) EXPECT_EQ(y[i], table[15 - i]);
}

// Shifting in place: read by all lanes before any is written.
TEST(KernelInterpret, LanesReadBeforeTheyWrite) {
  std::vector<float> y(17);
  for (size_t i = 0; i < 17; ++i) y[i] = static_cast<float>(i);
  run(parse("kernel shift scheduled\n"
            "  buffer y: f32[17] global argument 0 written\n"
            "  thread t in 1\n"
            "    vector l in 16\n"
            "      y[l + 1] = y[l]\n"),
      {y.data()});
  for (size_t i = 1; i < 17; ++i) EXPECT_EQ(y[i], static_cast<float>(i - 1));
}

float value_of(const std::string& expr, float x = 0, int64_t n = 0) {
  float y = 0;
  std::vector<float> in = {x};
  std::vector<int64_t> integers = {n};
  run(parse("kernel one lowered\n"
            "  buffer x: f32[1] global argument 0\n"
            "  buffer n: i64[1] global argument 1\n"
            "  buffer y: f32[1] global argument 2 written\n"
            "  y[0] = " +
            expr + "\n"),
      {in.data(), integers.data(), &y});
  return y;
}

TEST(KernelInterpret, OpsMeanWhatTheTableSays) {
  EXPECT_EQ(value_of("round(x[0])", 2.5f), 2);
  EXPECT_EQ(value_of("round(x[0])", 3.5f), 4);
  EXPECT_EQ(value_of("round(x[0])", -0.5f), 0);
  for (int e = -126; e <= 127; ++e) {
    EXPECT_EQ(value_of("pow2(x[0])", static_cast<float>(e)), std::ldexp(1.0f, e));
  }
  EXPECT_EQ(value_of("exponent(x[0])", -12), 3);
  EXPECT_EQ(value_of("mantissa(x[0])", -12), 1.5f);
  EXPECT_EQ(value_of("min(x[0], f32(3))", kNaN), 3);
  EXPECT_TRUE(std::isnan(value_of("min(f32(3), x[0])", kNaN)));
  EXPECT_EQ(value_of("max(x[0], f32(3))", kNaN), 3);
  EXPECT_TRUE(std::isnan(value_of("max(f32(3), x[0])", kNaN)));
  EXPECT_EQ(value_of("fma(x[0], x[0], f32(-1))", 1 + 0x1p-12f), 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(value_of("add(mul(x[0], x[0]), f32(-1))", 1 + 0x1p-12f), 0x1p-11f);
  EXPECT_EQ(value_of("select(lt(x[0], f32(0)), f32(1), f32(2))", -0.0f), 2);
  EXPECT_EQ(value_of("select(eq(x[0], x[0]), f32(1), f32(2))", kNaN), 2);
  EXPECT_EQ(value_of("select(or(not(in_range(3, 3)), in_range(2, 3)), f32(1), f32(2))"), 1);
  EXPECT_EQ(value_of("select(and(in_range(-1, 3), in_range(2, 3)), f32(1), f32(2))"), 2);
  EXPECT_EQ(value_of("cast(f32, div(n[0], i64(2)))", 0, -7), -3);
  EXPECT_EQ(value_of("cast(f32, cast(i8, n[0]))", 0, 300), 44);
  EXPECT_EQ(value_of("cast(f32, cast(i32, x[0]))", -1.75f), -1);
  EXPECT_EQ(value_of("cast(f32, cast(bf16, x[0]))", 1 + 0x1p-8f), 1);
  EXPECT_EQ(value_of("cast(f32, cast(f16, x[0]))", 2049), 2048);
  EXPECT_EQ(value_of("floor(x[0])", -1.5f), -2);
  EXPECT_TRUE(std::signbit(value_of("floor(x[0])", -0.0f)));
  EXPECT_EQ(value_of("cast(f32, bit_cast(i32, x[0]))", 1), 0x3f800000);
  EXPECT_EQ(value_of("cast(f32, bit_and(n[0], i64(-3)))", 0, 7), 5);
  EXPECT_EQ(value_of("cast(f32, bit_or(n[0], i64(-8)))", 0, 5), -3);
  EXPECT_EQ(value_of("cast(f32, bit_xor(n[0], i64(-1)))", 0, 5), -6);
  EXPECT_EQ(value_of("cast(f32, shl(cast(i8, n[0]), i8(9)))", 0, 65), -126);  // by 9 mod 8
  EXPECT_EQ(value_of("cast(f32, shr(n[0], i64(1)))", 0, -3), -2);
  EXPECT_EQ(value_of("cast(f32, shr(cast(u8, n[0]), u8(1)))", 0, 255), 127);
  EXPECT_EQ(value_of("cast(f32, add(cast(u8, n[0]), u8(1)))", 0, 255), 0);
  EXPECT_EQ(value_of("index(f32, 6*7)"), 42);
  EXPECT_EQ(value_of("x[0] if 0 <= 1 < 1", 5), 0);
  EXPECT_EQ(value_of("sqrt(abs(neg(x[0])))", 9), 3);
}

TEST(KernelInterpret, AnAccessOutsideNamesKernelAndBuffer) {
  std::vector<float> x(8), y(9);
  const Kernel k = parse(
      "kernel late lowered dims m: 1..100\n"
      "  buffer x: f32[8] global argument 0\n"
      "  buffer y: f32[9] global argument 1 written\n"
      "  parallel i in m\n"
      "    y[i] = x[i]\n");
  EXPECT_NO_THROW(run(k, {x.data(), y.data()}, {8}));
  try {
    run(k, {x.data(), y.data()}, {9});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::Internal);
    EXPECT_STREQ(error.what(),
                 "[interpret] kernel late: buffer x has 8 elements, element 8 is accessed");
  }
}

// Scratch holds nothing that an earlier work item left there.
TEST(KernelInterpret, MemoryOfAWorkItemStartsAsNaN) {
  std::vector<float> y(2);
  run(parse("kernel items scheduled\n"
            "  buffer y: f32[2] global argument 0 written\n"
            "  buffer s: f32[1] scratch\n"
            "  thread t in 2\n"
            "    y[t] = s[0]\n"
            "    s[0] = f32(1)\n"),
      {y.data()});
  EXPECT_TRUE(std::isnan(y[0]));
  EXPECT_TRUE(std::isnan(y[1]));
}

TEST(KernelInterpret, ReductionsSeeWhatTheKernelWrites) {
  std::vector<float> y = {1, 2, 3};
  run(parse("kernel twice lowered\n"
            "  buffer y: f32[3] global argument 0 written\n"
            "  loop i in 2\n"
            "    y[0] = reduce_add(k in 3, y[k])\n"),
      {y.data()});
  EXPECT_EQ(y[0], 11);  // 1 + 2 + 3, then 6 + 2 + 3
}

// Ten million multiply-adds; a guard against the interpreter becoming too slow to be used.
TEST(KernelInterpret, ManagesMillionsOfOperationsASecond) {
  constexpr int64_t kRows = 64, kCols = 128, kDepth = 1220;
  const Kernel k = parse(
      "kernel matmul lowered dims m: 1..64\n"
      "  buffer x: f32[m*1220] global argument 0\n"
      "  buffer w: f32[156160] global argument 1\n"
      "  buffer y: f32[m*128] global argument 2 written\n"
      "  parallel i in m\n"
      "    parallel j in 128\n"
      "      y[i*128 + j] = reduce_fma(k in 1220, x[i*1220 + k], w[j + k*128], f32(0))\n");
  std::vector<float> x(kRows * kDepth, 1), w(kDepth * kCols, 2), y(kRows * kCols);
  const auto start = std::chrono::steady_clock::now();
  run(k, {x.data(), w.data(), y.data()}, {kRows});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(y[777], 2 * kDepth);
  RecordProperty("milliseconds", static_cast<int>(seconds.count() * 1000));
  EXPECT_LT(seconds.count(), 60);  // generous: sanitizers and shared machines
}

}  // namespace
}  // namespace tenon::kernel
