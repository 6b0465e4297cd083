// The names that the options of a plan have in the environment and on command lines.
#pragma once

#include <optional>
#include <string_view>

#include "tenon/plan_options.h"

namespace tenon::plan {

using Mode = PlanMode;
using Options = PlanOptions;

inline constexpr std::string_view kModes[] = {"arena", "remap", "disabled"};
std::optional<Mode> parse_mode(std::string_view text);

inline constexpr int64_t kLeastAlignment = 64;  // what kernels count on
inline constexpr int64_t kMostAlignment = 4096;

}  // namespace tenon::plan
