// The names of strategies (tenon/optimizer.h).
#include <fmt/ranges.h>

#include "base/error.h"
#include "tenon/optimizer.h"

namespace tenon {
namespace {

constexpr std::string_view kNames[] = {"analytic", "plain"};  // in the order of the variant

}  // namespace

OptStrategy OptStrategy::parse(std::string_view text) {
  if (text == kNames[0]) return Analytic{};
  if (text == kNames[1]) return Plain{};
  throw user_error("optimizer \"{}\" is not known; there are: {}", text, fmt::join(kNames, ", "));
}

std::string to_string(const OptStrategy& strategy) {
  return std::string(kNames[strategy.choice_.index()]);
}

}  // namespace tenon
