// Elements as doubles, or as 64-bit integers where a double would not hold them.
#include "tools/onnx_test/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tenon::onnx_test {
namespace {

bool agrees(double a, double b, const Tolerance& tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  if (std::isinf(a) || std::isinf(b)) return false;
  return std::abs(a - b) <= tolerance.atol + tolerance.rtol * std::abs(b);
}

}  // namespace

std::string difference(const graph::Tensor& actual, const graph::Tensor& expected,
                       Tolerance tolerance) {
  if (actual.dtype == DType::BF16) tolerance.rtol = std::max(tolerance.rtol, 1.0 / 64);
  if (actual.dtype != expected.dtype) {
    return fmt::format("is {}, expected {}", to_string(actual.dtype), to_string(expected.dtype));
  }
  if (actual.shape != expected.shape) {
    return fmt::format("has the shape [{}], expected [{}]", fmt::join(actual.shape, ", "),
                       fmt::join(expected.shape, ", "));
  }
  const auto size = static_cast<size_t>(size_of(actual.dtype));
  size_t wrong = 0, first = 0;
  const size_t count = actual.bytes.size() / size;
  for (size_t i = 0; i < count; ++i) {
    const std::byte *a = &actual.bytes[i * size], *b = &expected.bytes[i * size];
    const bool same =
        load_as_i64(actual.dtype, a) == load_as_i64(expected.dtype, b) && !is_float(actual.dtype);
    if (same || agrees(load_as_f64(actual.dtype, a), load_as_f64(expected.dtype, b), tolerance)) {
      continue;
    }
    if (wrong++ == 0) first = i;
  }
  if (wrong == 0) return {};
  return fmt::format("{} of {} elements differ; element {} is {}, expected {}", wrong, count, first,
                     load_as_f64(actual.dtype, &actual.bytes[first * size]),
                     load_as_f64(expected.dtype, &expected.bytes[first * size]));
}

}  // namespace tenon::onnx_test
