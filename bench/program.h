// What every benchmark program ends with: 0 where all gates are met, 1 where one is not, 2 and one
// line on stderr where it could not be run.
#pragma once

#include <cstdio>
#include <exception>
#include <span>

namespace tenon::bench {

template <typename Run>
int program(const char* name, Run run, int argc, char** argv) {
  try {
    return run(std::span<char* const>(argv + 1, argv + argc)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 2;
  }
}

}  // namespace tenon::bench
