// See literals.h.
#include "codegen/text/literals.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "kernel/expr.h"

namespace tenon::codegen {
namespace {

template <typename T>
std::string float_text(T value, std::string_view type, const char* suffix) {
  if (std::isnan(value)) return fmt::format("nan_{}", type);
  if (std::isinf(value)) return fmt::format("({}inf_{})", value < 0 ? "-" : "", type);
  const std::string text = fmt::format("{:a}{}", value, suffix);
  return std::signbit(value) ? "(" + text + ")" : text;
}

}  // namespace

std::string scalar_type(DType dtype) {
  if (dtype == DType::Bool || !kernel::is_computed(dtype))
    return fmt::format("u{}", size_of(dtype) * 8);  // their bits
  return std::string(to_string(dtype));
}

std::string integer_text(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807l - 1)";
  return value < 0 ? fmt::format("({})", value) : fmt::format("{}", value);
}

std::string constant_text(DType dtype, double value) {
  if (dtype == DType::F32) return float_text(static_cast<float>(value), "f32", "f");
  if (dtype == DType::F64) return float_text(value, "f64", "");
  uint64_t bits = 0;
  if (dtype == DType::U64) {
    bits = static_cast<uint64_t>(value);  // beyond the range of i64, too
  } else {
    store_from_f64(dtype, &bits, value);
  }
  return fmt::format("(({}){}u)", scalar_type(dtype), bits);
}

}  // namespace tenon::codegen
