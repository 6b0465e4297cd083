// See precision.h. Rounding the operands of contractions to bf16 is a way to schedule kernels on
// GPUs, and a pass over the graph on CPUs: the mode is the same.
#include "tools/tenon/precision.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "legalize/precision.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {
namespace {

struct Mode {
  const char* name;
  PrecisionPolicy policy;
  bool of_contractions;  // on GPUs by CompileOptions::precision
};
constexpr Mode kModes[] = {
    {"f32", PrecisionPolicy::AlwaysF32, false},
    {"f16", PrecisionPolicy::AlwaysF16, false},
    {"bf16", PrecisionPolicy::AutoMixed, true},
    {"int8", PrecisionPolicy::DynamicInt8, false},
};
constexpr const char* kTf32 = "tf32";

}  // namespace

void set_precision(const std::string& name, CompileOptions& options) {
  const bool on_gpu = options.device && options.device->kind() == Device::Kind::Cuda;
  const auto* mode = std::ranges::find(kModes, name, &Mode::name);
  if (name == kTf32 || (mode != std::end(kModes) && mode->of_contractions && on_gpu)) {
    options.precision = name;
    return;
  }
  auto policy = legalize::parse_precision_policy(name);
  if (mode != std::end(kModes)) policy = mode->policy;
  const auto policies =
      std::span(legalize::kPrecisionPolicies).first(6);  // custom has no name here
  if (!policy || *policy == PrecisionPolicy::Custom)
    throw UsageError("precision '{}' is not known; there are: f32, f16, bf16, int8, tf32, {}", name,
                     fmt::join(policies, ", "));
  if (*policy != PrecisionPolicy::AlwaysF32)
    options.precision_policy = PrecisionOptions{.policy = *policy};
}

}  // namespace tenon::cli
