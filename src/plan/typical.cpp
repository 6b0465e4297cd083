#include "plan/typical.h"

#include <fmt/format.h>

#include <algorithm>

namespace tenon::plan {
namespace {

int64_t typical(const Symbol& symbol) {
  return std::clamp<int64_t>(64, symbol.bounds().lo, symbol.bounds().hi);
}

}  // namespace

double typical(const Dim& dim) {
  const auto value =
      dim.evaluate([](const Symbol& symbol) -> std::optional<int64_t> { return typical(symbol); });
  return value ? static_cast<double>(*value) : 1e300;
}

std::string typical_bytes(const Dim& bytes) {
  constexpr const char* kUnits[] = {"bytes", "KB", "MB", "GB", "TB"};
  double value = typical(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < std::size(kUnits); ++unit) value /= 1000;
  return unit == 0 ? fmt::format("{:.0f} bytes", value)
                   : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string typical_extents(const program::Program& program) {
  std::string text;
  for (const Symbol& symbol : program.symbols) {
    text += fmt::format("{} {} = {}", text.empty() ? " at" : ",", symbol.name(), typical(symbol));
  }
  return text;
}

}  // namespace tenon::plan
