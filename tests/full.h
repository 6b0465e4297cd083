// Whether the long matrices were asked for (`./test --full`).
#pragma once

#include <cstdlib>

namespace tenon {

inline bool full_tests() {
  const char* set = std::getenv("TENON_TEST_FULL");
  return set && *set;
}

}  // namespace tenon
