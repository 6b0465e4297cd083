// A figure against its gate, as a JSON line.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

namespace tenon::bench {

inline double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// True where the value is at most the gate. `more`: further fields, each after a comma.
inline bool report(const std::string& name, const std::string& unit, double value, double gate,
                   const std::string& more = {}) {
  fmt::print("{{\"bench\": \"{}\", \"{}\": {:.3f}, \"gate\": {}, \"met\": {}{}}}\n", name, unit,
             value, gate, value <= gate, more);
  std::fflush(stdout);
  return value <= gate;
}

}  // namespace tenon::bench
