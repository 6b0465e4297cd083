// Every cast between two dtypes, written with bits, against the conversions of types: the same
// element, or NaN for NaN.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/kernel/cast_samples.h"

namespace tenon::kernel_test {
namespace {

std::vector<std::byte> converted_by_types(DType from, DType to, const std::vector<std::byte>& x) {
  const auto in = static_cast<size_t>(size_of(from)), out = static_cast<size_t>(size_of(to));
  std::vector<std::byte> y(x.size() / in * out);
  for (size_t i = 0; i * in < x.size(); ++i) {
    const std::byte* element = &x[i * in];
    if (is_float(from)) {
      store_from_f64(to, &y[i * out], load_as_f64(from, element));
    } else if (from == DType::U64 && to == DType::F32) {
      uint64_t number = 0;
      std::memcpy(&number, element, 8);
      const auto nearest = static_cast<float>(number);
      std::memcpy(&y[i * out], &nearest, 4);
    } else if (from == DType::U64 && is_float(to)) {
      store_from_f64(to, &y[i * out], load_as_f64(from, element));
    } else {
      store_from_i64(to, &y[i * out], load_as_i64(from, element));
    }
  }
  return y;
}

bool is_nan(DType dtype, const std::byte* element) {
  return is_float(dtype) && std::isnan(load_as_f64(dtype, element));
}

TEST(ExpandCast, EveryCastIsThatOfTypes) {
  for (const DType from : all_dtypes()) {
    std::vector<std::byte> x = cast_samples(from);
    const int64_t n = static_cast<int64_t>(x.size()) / size_of(from);
    for (const DType to : all_dtypes()) {
      if (to == from) continue;
      const std::vector<std::byte> expected = converted_by_types(from, to, x);
      std::vector<std::byte> y(expected.size());
      void* buffers[] = {x.data(), y.data()};
      kernel::interpret(cast_kernel(from, to), buffers, std::span(&n, 1), nullptr);
      const auto size = static_cast<size_t>(size_of(to));
      for (size_t i = 0; i < y.size(); i += size) {
        if (is_nan(to, &y[i]) && is_nan(to, &expected[i])) continue;
        ASSERT_EQ(std::memcmp(&y[i], &expected[i], size), 0)
            << to_string(from) << " to " << to_string(to) << ": element " << i / size << ", of "
            << load_as_f64(from, &x[i / size * static_cast<size_t>(size_of(from))]) << ", is "
            << load_as_f64(to, &y[i]) << ", not " << load_as_f64(to, &expected[i]);
      }
    }
  }
}

// Out of range, and the three ways to round to a power of two: by hand, from the ONNX tables.
TEST(ExpandCast, NarrowFloatsRoundAsAsked) {
  using enum NarrowRounding::PowerOfTwo;
  struct Row {
    DType to;
    double x;
    NarrowRounding rounding;
    int code;
  };
  const double inf = std::numeric_limits<double>::infinity();
  const Row rows[] = {
      {DType::F8E4M3FN, 1e4, {.saturate = true}, 0x7e},
      {DType::F8E4M3FN, -1e4, {.saturate = false}, 0xff},
      {DType::F8E5M2, inf, {.saturate = true}, 0x7b},
      {DType::F8E5M2, -inf, {.saturate = false}, 0xfc},
      {DType::F8E5M2FNUZ, inf, {.saturate = false}, 0x80},
      {DType::F8E4M3FNUZ, -0.0, {.saturate = true}, 0},
      {DType::F8E8M0, 3, {.power_of_two = Up}, 129},
      {DType::F8E8M0, 3, {.power_of_two = Down}, 128},
      {DType::F8E8M0, 3, {.power_of_two = Nearest}, 129},
      {DType::F8E8M0, 2.9, {.power_of_two = Nearest}, 128},
      {DType::F8E8M0, 0x1p-127, {.power_of_two = Up}, 0},
      {DType::F8E8M0, 0x1.8p-127, {.power_of_two = Up}, 1},
      {DType::F8E8M0, 0, {.saturate = true}, 0},
      {DType::F8E8M0, 0, {.saturate = false}, 255},
      {DType::F8E8M0, -1, {.saturate = true}, 255},
  };
  for (const Row& row : rows) {
    kernel::Kernel k;
    const int y = k.add_buffer({.name = "y", .dtype = row.to, .source_index = 0, .written = true});
    const kernel::ExprRef x = kernel::constant(DType::F64, row.x);
    k.body = {kernel::store(y, 0, kernel::encode_narrow(x, row.to, row.rounding))};
    uint8_t code = 0;
    void* buffers[] = {&code};
    kernel::interpret(k, buffers, {}, nullptr);
    EXPECT_EQ(int{code}, row.code) << to_string(row.to) << " of " << row.x;
  }
}

}  // namespace
}  // namespace tenon::kernel_test
