// What the operands of f32 contractions may be rounded to, for the sake of faster instructions.
// Sums are f32 in any case.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tenon::schedule {

enum class Precision : uint8_t {
  F32,   // they are not
  Tf32,  // 10 bits after the point, on GPUs
  Bf16,  // 7 bits, on GPUs
};

inline constexpr std::string_view kPrecisions[] = {"f32", "tf32", "bf16"};

inline std::optional<Precision> parse_precision(std::string_view text) {
  for (size_t i = 0; i < std::size(kPrecisions); ++i) {
    if (kPrecisions[i] == text) return static_cast<Precision>(i);
  }
  return std::nullopt;
}

}  // namespace tenon::schedule
