// The names of strategies (tenon/optimizer.h).
#include <fmt/format.h>

#include <charconv>

#include "base/error.h"
#include "tenon/optimizer.h"

namespace tenon {
namespace {

constexpr std::string_view kBeam = "beam", kBeamWidth = "beam:";
constexpr int kMostWidth = 64;

int checked_width(int width) {
  if (width < 1 || width > kMostWidth)
    throw user_error("optimizer beam: width {} does not lie in 1..{}", width, kMostWidth);
  return width;
}

}  // namespace

OptStrategy::OptStrategy(Beam beam) : choice_(Beam{checked_width(beam.width)}) {}

OptStrategy OptStrategy::parse(std::string_view text) {
  if (text == "analytic") return Analytic{};
  if (text == "plain") return Plain{};
  if (text == kBeam) return Beam{};
  if (text.starts_with(kBeamWidth)) {
    int width = 0;
    const char* end = text.data() + text.size();
    const auto read = std::from_chars(text.data() + kBeamWidth.size(), end, width);
    if (read.ec == std::errc() && read.ptr == end) return Beam{width};
  }
  throw user_error("optimizer \"{}\" is not known; there are: analytic, plain, beam, beam:WIDTH",
                   text);
}

int OptStrategy::beam_width() const {
  const auto* beam = std::get_if<Beam>(&choice_);
  return beam ? beam->width : 0;
}

std::string to_string(const OptStrategy& strategy) {
  if (const int width = strategy.beam_width()) return fmt::format("{}{}", kBeamWidth, width);
  return strategy.is<OptStrategy::Plain>() ? "plain" : "analytic";
}

}  // namespace tenon
