// What every benchmark program begins and ends with. It exits with 0 where all gates are met, 1
// where one is not, 2 and one line on stderr where it could not be run.
#pragma once

#include <algorithm>
#include <cstdio>
#include <exception>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

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

// A figure that a program can be asked for by name.
struct Figure {
  const char* name;
  bool (*measure)();  // whether its gates are met
};

// Measures those that are named, in the order of the table; all where none is.
inline bool measure(std::span<const Figure> figures, std::span<char* const> names) {
  const auto is_one = [&](std::string_view name) {
    return std::ranges::any_of(figures, [&](const Figure& figure) { return figure.name == name; });
  };
  std::string known;
  for (const Figure& figure : figures) known += std::string(known.empty() ? "" : "|") + figure.name;
  if (!std::ranges::all_of(names, is_one))
    throw std::runtime_error("there are [" + known + " ...]");
  bool met = true;
  for (const Figure& figure : figures) {
    if (names.empty() || std::ranges::count(names, std::string_view(figure.name)) > 0)
      met &= figure.measure();
  }
  return met;
}

}  // namespace tenon::bench
