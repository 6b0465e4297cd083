// Options that are given win over the environment. A name that the environment gets wrong is an
// Error which names the variable: nobody looks for it in the options.
#include "driver/environment.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "base/error.h"
#include "base/knobs.h"
#include "graph/op.h"
#include "legalize/decompose_fused.h"
#include "legalize/dispatch.h"

namespace tenon::driver {
namespace {

std::vector<std::string_view> fused_ops() {
  std::vector<std::string_view> names;
  for (int op = 0; op < graph::kOpCount; ++op) {
    if (legalize::is_fused(static_cast<graph::Op>(op))) names.push_back(graph::kOps[op].text);
  }
  return names;
}

}  // namespace

plan::Options plan_options(const Options& options) {
  if (options.plan || knobs().memory_planner.empty()) return options.plan.value_or(plan::Options());
  return {.mode = plan::parse_mode(knobs().memory_planner).value()};
}

DispatchOptions dispatch_options(const Options& options) {
  if (options.dispatch) return *options.dispatch;
  DispatchOptions result;
  if (!knobs().kernel_dispatch.empty())
    result.policy = legalize::parse_dispatch_policy(knobs().kernel_dispatch).value();
  std::stringstream kinds(knobs().force_common);
  for (std::string kind; std::getline(kinds, kind, ',');) {
    const std::vector<std::string_view> allowed = fused_ops();
    if (std::ranges::find(allowed, kind) == allowed.end())
      throw user_error("[TENON_FORCE_COMMON] '{}' is not allowed; allowed: {}", kind,
                       fmt::join(allowed, "|"));
    result.overrides[kind] = DispatchPolicy::ForceCommon;
  }
  return result;
}

}  // namespace tenon::driver
