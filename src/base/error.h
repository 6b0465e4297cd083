// Makes errors: `throw user_error("[matmul] inner extents differ: {} and {}", a, b)`. Each function
// names whose fault it is, so the reader of a throw sees it, and the message is formatted in one
// place.
#pragma once

#include <fmt/format.h>

#include <utility>

#include "tenon/error.h"

namespace tenon {

template <typename... Args>
Error user_error(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::User, fmt::format(format, std::forward<Args>(args)...)};
}

template <typename... Args>
Error unsupported_error(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::Unsupported, fmt::format(format, std::forward<Args>(args)...)};
}

template <typename... Args>
Error internal_error(fmt::format_string<Args...> format, Args&&... args) {
  return {ErrorKind::Internal, fmt::format(format, std::forward<Args>(args)...)};
}

// An invariant of our own. User input must have been rejected before it can reach one of these.
#define TENON_CHECK(condition, ...)               \
  do {                                            \
    if (!(condition)) [[unlikely]]                \
      throw ::tenon::internal_error(__VA_ARGS__); \
  } while (false)

}  // namespace tenon
