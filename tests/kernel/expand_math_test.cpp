// The expansions of functions against libm: f32 against double, f64 against long double. The
// largest error over a sample of all bit patterns, and the special values.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernel/kernel.h"
#include "kernel/normal_cdf.h"
#include "tests/full.h"

namespace tenon::kernel {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

template <typename T>
constexpr const char* kName = sizeof(T) == 4 ? "f32" : "f64";

template <typename T>
std::vector<T> run(const std::string& expr, std::vector<T> x, std::vector<T> z) {
  std::vector<T> y(x.size());
  const std::string dtype = kName<T>;
  const Kernel k =
      parse("kernel math lowered dims n: 1..100000000\n  buffer x: " + dtype +
            "[n] global argument 0\n  buffer z: " + dtype + "[n] global argument 1\n  buffer y: " +
            dtype + "[n] global argument 2 written\n  parallel i in n\n    y[i] = " + expr + "\n");
  void* buffers[] = {x.data(), z.data(), y.data()};
  const int64_t dims[] = {static_cast<int64_t>(x.size())};
  interpret(k, buffers, dims, nullptr);
  return y;
}
template <typename T>
std::vector<T> evaluate(const std::string& op, const std::vector<T>& x) {
  return run<T>(op + "(x[i])", x, x);
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

// In units of the last place of the correctly rounded result.
template <typename T, typename Wide>
double ulps(T got, Wide exact) {
  const T nearest = static_cast<T>(exact);
  if (std::isnan(got) || std::isnan(nearest))
    return std::isnan(got) == std::isnan(nearest) ? 0 : kInf;
  if (std::isinf(got) || std::isinf(nearest)) {
    // Half a unit past the largest number is a matter of rounding.
    const bool both = std::isinf(got) && std::isinf(nearest) && (got > 0) == (nearest > 0);
    const Wide largest = std::numeric_limits<T>::max();
    const bool border =
        std::fabs(std::fabs(exact) / largest - 1) < 4 * std::numeric_limits<T>::epsilon();
    return both || border ? 0 : kInf;
  }
  const T size = std::fabs(nearest);
  const Wide unit = Wide{std::nextafter(size, std::numeric_limits<T>::infinity())} - Wide{size};
  return static_cast<double>(std::fabs(Wide{got} - exact) / unit);
}

template <typename T, typename Wide>
double largest_error(const std::string& op, Wide (*exact)(Wide), const std::vector<T>& x) {
  const std::vector<T> y = evaluate<T>(op, x);
  double worst = 0;
  size_t where = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double error = ulps<T, Wide>(y[i], exact(x[i]));
    if (!(error <= worst)) worst = error, where = i;
  }
  testing::Test::RecordProperty(op, std::to_string(worst));
  std::printf("%s of %s: %.3f ulp at %a over %zu values\n", op.c_str(), kName<T>, worst,
              static_cast<double>(x[where]), x.size());
  return worst;
}

// A prime: about half a million values per sign, in full 64 times as many.
const uint32_t kStep = full_tests() ? 61 : 4099;

struct Function {
  const char* name;
  double (*in_f64)(double);
  long double (*in_long)(long double);
};
std::ostream& operator<<(std::ostream& stream, const Function& f) { return stream << f.name; }

const Function kFunctions[] = {
    {"exp", std::exp, std::exp},       {"log", std::log, std::log},
    {"erf", std::erf, std::erf},       {"tanh", std::tanh, std::tanh},
    {"expm1", std::expm1, std::expm1}, {"log1p", std::log1p, std::log1p},
    {"sin", std::sin, std::sin},       {"cos", std::cos, std::cos},
    {"tan", std::tan, std::tan},       {"asin", std::asin, std::asin},
    {"acos", std::acos, std::acos},    {"atan", std::atan, std::atan},
    {"sinh", std::sinh, std::sinh},    {"cosh", std::cosh, std::cosh},
    {"asinh", std::asinh, std::asinh}, {"acosh", std::acosh, std::acosh},
    {"atanh", std::atanh, std::atanh},
};

class ExpandFunction : public ::testing::TestWithParam<Function> {};
INSTANTIATE_TEST_SUITE_P(All, ExpandFunction, ::testing::ValuesIn(kFunctions),
                         [](const auto& info) { return info.param.name; });

// Every f32, of both signs, subnormal and huge ones included.
TEST_P(ExpandFunction, OfF32IsWithinTwoUlps) {
  const Function& f = GetParam();
  const float most = std::numeric_limits<float>::max();
  EXPECT_LE(largest_error<float>(f.name, f.in_f64, sample(0, most, kStep)), 2);
  EXPECT_LE(largest_error<float>(f.name, f.in_f64, sample(-0.0f, -most, kStep)), 2);
}

// Around 0 on a scale of every size, angles up to where three parts of pi/2 serve.
TEST_P(ExpandFunction, OfF64IsWithinFiveUlps) {
  const Function& f = GetParam();
  std::vector<double> x;
  const int count = full_tests() ? 400'000 : 20'000;
  for (int i = 0; i < count; ++i) {
    const double size = std::ldexp(1 + std::fmod(i * 0.6180339887498949, 1.0), i % 90 - 60);
    x.push_back(i % 7 < 3 ? -size : size);
    x.push_back(std::fmod(i * 0.7548776662466927, 1.0) * (i % 2 ? 2 : -2));
    x.push_back(std::fmod(i * 0.5698402909980532, 1.0) * (i % 2 ? 740 : -740));
  }
  EXPECT_LE(largest_error<double>(f.name, f.in_long, x), 5);
}

template <typename T>
void expect_same(T got, T want, const std::string& what) {
  if (std::isnan(want)) {
    EXPECT_TRUE(std::isnan(got)) << what << " is " << got;
  } else {
    EXPECT_EQ(got, want) << what;
    EXPECT_EQ(std::signbit(got), std::signbit(want)) << what;
  }
}

// Where the result is exact: zeros of either sign, infinities, NaN, the ends of the domain.
TEST_P(ExpandFunction, OfSpecialValues) {
  const Function& f = GetParam();
  for (const double x : {0.0, -0.0, kInf, -kInf, kNaN, 1e30, -1e30}) {
    const double want = f.in_f64(x);
    const bool exact = std::isnan(want) || std::isinf(want) || want == 0 || std::fabs(want) == 1;
    if (!exact) continue;
    const std::string what = std::string(f.name) + " of " + std::to_string(x);
    const auto narrow = static_cast<float>(x);
    expect_same(evaluate<float>(f.name, {narrow})[0],
                static_cast<float>(f.in_f64(static_cast<double>(narrow))), what);
    const bool angle = std::fabs(x) == 1e30;  // of f64 up to 2^30 only
    if (!angle) expect_same(evaluate<double>(f.name, {x})[0], want, what);
  }
}

// Absolute: it is a factor of numbers that are compared with 1.
TEST(NormalCdf, IsCloseEverywhere) {
  Kernel k;
  const Symbol n("n", {1, 100'000'000}), i = Symbol::range("i", n);
  const int in = k.add_buffer({.name = "x", .elements = n, .source_index = 0});
  const int out = k.add_buffer({.name = "y", .elements = n, .source_index = 1, .written = true});
  const ExprRef value = normal_cdf(load(in, DType::F32, i));
  k.body = {loop(LoopKind::Parallel, i, n, {store(out, i, value)})};
  k.dims = {n};
  for (const float sign : {1.0f, -1.0f}) {
    auto x = sample(sign * 0.0f, sign * std::numeric_limits<float>::infinity(), kStep);
    x.push_back(static_cast<float>(kNaN));
    std::vector<float> y(x.size());
    void* buffers[] = {x.data(), y.data()};
    const auto count = static_cast<int64_t>(x.size());
    interpret(k, buffers, std::span(&count, 1), nullptr);
    EXPECT_TRUE(std::isnan(y.back()));
    for (size_t at = 0; at + 1 < x.size(); ++at) {
      const double exact = std::erfc(-static_cast<double>(x[at]) * std::sqrt(0.5)) / 2;
      ASSERT_NEAR(y[at], exact, 0x1p-23) << x[at];
      if (x[at] > -2) ASSERT_NEAR(y[at], exact, 1e-6 * exact) << x[at];
    }
  }
}

// Every pair of these, with results from libm: exact ones for special values.
const double kOperands[] = {0.0,  -0.0,  1.0,    -1.0,  0.5,  -0.5,  2.0,   -2.0,  3.0,
                            -3.0, 2.5,   -2.5,   1e-30, 1e30, -1e30, kInf,  -kInf, kNaN,
                            7.75, 123.0, -124.0, 1e-40, 3e38, 0.999, 1.001, 33.25, -0.7};

TEST(ExpandPow, IsWithinTwoUlpsAndRightAtTheEdges) {
  std::vector<double> x, y;
  for (const double a : kOperands) {
    for (const double b : kOperands) x.push_back(a), y.push_back(b);
  }
  for (int i = 0; i < 50'000; ++i) {
    x.push_back(std::ldexp(1 + std::fmod(i * 0.6180339887498949, 1.0), i % 60 - 30));
    y.push_back(std::fmod(i * 0.7548776662466927, 1.0) * (i % 2 ? 8 : -8));
  }
  const std::vector<float> fx(x.begin(), x.end()), fy(y.begin(), y.end());
  const auto single = run<float>("pow(x[i], z[i])", fx, fy);
  const auto wide = run<double>("pow(x[i], z[i])", x, y);
  double worst_f32 = 0, worst_f64 = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double want = std::pow(static_cast<double>(fx[i]), static_cast<double>(fy[i]));
    const double error = ulps<float, double>(single[i], want);
    ASSERT_LE(error, 2) << fx[i] << "^" << fy[i] << " = " << single[i] << ", not " << want;
    const long double exact =
        std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]));
    const double wide_error = ulps<double, long double>(wide[i], exact);
    ASSERT_LE(wide_error, 4) << x[i] << "^" << y[i] << " = " << wide[i];
    if (want == 0) ASSERT_EQ(std::signbit(single[i]), std::signbit(want)) << fx[i] << "^" << fy[i];
    worst_f32 = std::max(worst_f32, error), worst_f64 = std::max(worst_f64, wide_error);
  }
  std::printf("pow: %.3f ulp of f32, %.3f ulp of f64\n", worst_f32, worst_f64);
}

TEST(ExpandRemainder, IsExact) {
  std::vector<double> x, y;
  for (const double a : kOperands) {
    for (const double b : kOperands) x.push_back(a), y.push_back(b);
  }
  for (int i = 0; i < 3000; ++i) {
    x.push_back(std::ldexp(1 + std::fmod(i * 0.6180339887498949, 1.0), i % 250 - 125));
    y.push_back(std::ldexp(1 + std::fmod(i * 0.7548776662466927, 1.0), (i * 7) % 250 - 125));
  }
  const std::vector<float> fx(x.begin(), x.end()), fy(y.begin(), y.end());
  const auto single = run<float>("rem(x[i], z[i])", fx, fy);
  const auto wide = run<double>("rem(x[i], z[i])", x, y);
  for (size_t i = 0; i < x.size(); ++i) {
    const std::string what = std::to_string(x[i]) + " mod " + std::to_string(y[i]);
    expect_same(single[i], std::fmod(fx[i], fy[i]), what);
    expect_same(wide[i], std::fmod(x[i], y[i]), what);
  }
}

}  // namespace
}  // namespace tenon::kernel
