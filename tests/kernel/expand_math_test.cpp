// The expansions of exp, log, erf and tanh against libm in double: the largest error over a dense
// sample of f32, and the special values.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include "kernel/kernel.h"
#include "tests/full.h"

namespace tenon::kernel {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

std::vector<float> evaluate(const char* op, std::vector<float> x) {
  std::vector<float> y(x.size());
  const Kernel k = parse(std::string("kernel math lowered dims n: 1..100000000\n"
                                     "  buffer x: f32[n] global argument 0\n"
                                     "  buffer y: f32[n] global argument 1 written\n"
                                     "  parallel i in n\n"
                                     "    y[i] = ") +
                         op + "(x[i])\n");
  void* buffers[] = {x.data(), y.data()};
  const int64_t dims[] = {static_cast<int64_t>(x.size())};
  interpret(k, buffers, dims, nullptr);
  return y;
}

// Every `step`-th f32 from lo to hi (same sign), as bit patterns go: dense near 0, too.
std::vector<float> sample(float lo, float hi, uint32_t step) {
  uint32_t from = 0, to = 0;
  std::memcpy(&from, &lo, 4);
  std::memcpy(&to, &hi, 4);
  if (from > to) std::swap(from, to);
  std::vector<float> values;
  for (uint64_t b = from; b <= to; b += step) {
    const auto pattern = static_cast<uint32_t>(b);
    float x = 0;
    std::memcpy(&x, &pattern, 4);
    values.push_back(x);
  }
  return values;
}

// In units of the last place of the correctly rounded f32.
double ulps(float got, double exact) {
  if (std::isinf(got) && std::isinf(static_cast<float>(exact))) return 0;
  const float nearest = std::fabs(static_cast<float>(exact));
  const double unit = std::nextafter(nearest, kInf) - static_cast<double>(nearest);
  return std::fabs(got - exact) / unit;
}

double largest_error(const char* op, double (*exact)(double), const std::vector<float>& x) {
  const std::vector<float> y = evaluate(op, x);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = ulps(y[i], exact(x[i]));
    if (!(error <= worst)) worst = error, where = i;
  }
  testing::Test::RecordProperty(op, std::to_string(worst));
  std::printf("%s: %.3f ulp at %a over %zu values\n", op, worst, x[where], x.size());
  return worst;
}

// A prime: about half a million values per sign, in full 64 times as many.
const uint32_t kStep = full_tests() ? 61 : 4099;

TEST(ExpandMath, ExpIsWithinTwoUlps) {
  EXPECT_LE(largest_error("exp", std::exp, sample(0, 88.72f, kStep)), 2);
  EXPECT_LE(largest_error("exp", std::exp, sample(-0.0f, -86.59f, kStep)), 2);
}

TEST(ExpandMath, ExpOfSpecialValues) {
  const auto y = evaluate("exp", {0, -0.0f, kInf, -kInf, kNaN, 88.8f, -87.5f, -1000});
  EXPECT_EQ(y[0], 1);
  EXPECT_EQ(y[1], 1);
  EXPECT_EQ(y[2], kInf);
  EXPECT_EQ(y[3], 0);
  EXPECT_TRUE(std::isnan(y[4]));
  EXPECT_EQ(y[5], kInf);
  EXPECT_EQ(y[6], 0);  // below the smallest normal number the result is 0
  EXPECT_EQ(y[7], 0);
}

TEST(ExpandMath, ErfIsWithinSixUlps) {
  EXPECT_LE(largest_error("erf", std::erf, sample(0x1p-126f, 10, kStep)), 6);
  EXPECT_LE(largest_error("erf", std::erf, sample(-0x1p-126f, -10, kStep)), 6);
}

TEST(ExpandMath, TanhIsWithinSixUlps) {
  EXPECT_LE(largest_error("tanh", std::tanh, sample(0x1p-126f, 20, kStep)), 6);
  EXPECT_LE(largest_error("tanh", std::tanh, sample(-0x1p-126f, -20, kStep)), 6);
}

TEST(ExpandMath, OddFunctionsOfSpecialValues) {
  for (const char* op : {"erf", "tanh"}) {
    const auto y = evaluate(op, {0, -0.0f, kInf, -kInf, kNaN, 1e30f, -1e30f});
    EXPECT_EQ(y[0], 0);
    EXPECT_FALSE(std::signbit(y[0]));
    EXPECT_EQ(y[1], 0);
    EXPECT_TRUE(std::signbit(y[1])) << op;
    EXPECT_TRUE(std::isnan(y[4])) << op;
    // Saturated results may miss 1 by one unit.
    for (const size_t i : {2u, 5u}) EXPECT_NEAR(y[i], 1, 0x1p-23f) << op;
    for (const size_t i : {3u, 6u}) EXPECT_NEAR(y[i], -1, 0x1p-23f) << op;
  }
}

TEST(ExpandMath, LogIsWithinTwoUlps) {
  const auto x = sample(0x1p-149f, std::numeric_limits<float>::max(), kStep);
  EXPECT_LE(largest_error("log", std::log, x), 2);
}

TEST(ExpandMath, LogOfSpecialValues) {
  const auto y = evaluate("log", {1, 0, -0.0f, -1, kInf, -kInf, kNaN});
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(y[1], -kInf);
  EXPECT_EQ(y[2], -kInf);
  EXPECT_TRUE(std::isnan(y[3]));
  EXPECT_EQ(y[4], kInf);
  EXPECT_TRUE(std::isnan(y[5]));
  EXPECT_TRUE(std::isnan(y[6]));
}

}  // namespace
}  // namespace tenon::kernel
