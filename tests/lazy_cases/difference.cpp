// Compares arrays: integers and bools must be equal, floats near, NaN with NaN.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "tests/lazy_cases/case.h"

namespace tenon::cases {
namespace {

bool is_near(double expected, double got, double absolute, double relative) {
  if (std::isnan(expected) || std::isnan(got)) return std::isnan(expected) && std::isnan(got);
  if (std::isinf(expected) || std::isinf(got)) return expected == got;
  return std::abs(expected - got) <= absolute + relative * std::abs(expected);
}

std::string text_of(const Array& array) {
  return fmt::format("{}[{}]", to_string(array.dtype), fmt::join(array.extents, ", "));
}

}  // namespace

std::string difference(const Array& expected, const Array& got, double absolute, double relative) {
  if (expected.dtype != got.dtype || expected.extents != got.extents)
    return fmt::format("expected {}, got {}", text_of(expected), text_of(got));
  const auto size = static_cast<size_t>(size_of(expected.dtype));
  for (size_t at = 0; at < expected.bytes.size(); at += size) {
    const std::byte *a = &expected.bytes[at], *b = &got.bytes.at(at);
    if (!is_float(expected.dtype)) {
      const int64_t x = load_as_i64(expected.dtype, a), y = load_as_i64(got.dtype, b);
      if (x != y) return fmt::format("element {}: expected {}, got {}", at / size, x, y);
      continue;
    }
    const double x = load_as_f64(expected.dtype, a), y = load_as_f64(got.dtype, b);
    if (!is_near(x, y, absolute, relative))
      return fmt::format("element {}: expected {}, got {}", at / size, x, y);
  }
  return {};
}

}  // namespace tenon::cases
