// How the memory between steps is planned.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::plan {

enum class Mode : uint8_t {
  Arena,     // buffers whose lives do not overlap share memory wherever that cannot cost any
  Remap,     // a buffer takes over a whole one that is free and provably large enough; none grows
  Disabled,  // every buffer has memory of its own, nothing is computed in place
};
inline constexpr std::string_view kModes[] = {"arena", "remap", "disabled"};
std::optional<Mode> parse_mode(std::string_view text);

inline constexpr int64_t kLeastAlignment = 64;  // what kernels count on
inline constexpr int64_t kMostAlignment = 4096;

struct Options {
  Mode mode = Mode::Arena;
  int64_t alignment = kLeastAlignment;  // of buffers; a power of two
};

}  // namespace tenon::plan
