#include "plan/typical.h"

#include <algorithm>

namespace tenon::plan {

double typical(const Dim& dim) {
  const auto value = dim.evaluate([](const Symbol& symbol) -> std::optional<int64_t> {
    return std::clamp<int64_t>(64, symbol.bounds().lo, symbol.bounds().hi);
  });
  return value ? static_cast<double>(*value) : 1e300;
}

}  // namespace tenon::plan
