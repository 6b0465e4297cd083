// The symbol that stands for the bucket's extent. Its name says what it is, wherever symbols go: in
// graphs, in their text, in programs and artifacts.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "tenon/shape.h"

namespace tenon {

inline constexpr std::string_view kActiveExtent = "active.extent";

inline Symbol active_extent(int64_t upper) {
  return Symbol(std::string(kActiveExtent), {1, upper});
}

// Among these; nullopt where it is not.
inline std::optional<Symbol> find_active_extent(std::span<const Symbol> symbols) {
  for (const Symbol& symbol : symbols) {
    if (symbol.name() == kActiveExtent) return symbol;
  }
  return std::nullopt;
}

inline bool is_active(const Dim& dim) { return find_active_extent(dim.symbols()).has_value(); }

inline bool is_active(const Shape& shape) {
  for (const Dim& dim : shape) {
    if (is_active(dim)) return true;
  }
  return false;
}

}  // namespace tenon
