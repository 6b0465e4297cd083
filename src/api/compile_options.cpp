// How options merge, and what they mean to the driver.
#include "tenon/compile_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "api/driver_options.h"
#include "api/specialized.h"
#include "api/tuned.h"
#include "base/error.h"
#include "compiled/device_id.h"
#include "driver/pipeline.h"
#include "graph/op.h"
#include "plan/plan_options.h"
#include "runtime/devices.h"

namespace tenon {
namespace {

CpuInfo target(const std::string& cap) {
  if (cap.empty()) return cpu_info();
  if (cap == "avx2") return detect_cpu(CpuIsa::Avx2);
  if (cap == "avx512") return detect_cpu(CpuIsa::Avx512);
  throw user_error("[compile] cpu \"{}\" is not known; there are: avx2, avx512", cap);
}

schedule::Precision precision(const CompileOptions& options) {
  if (options.precision.empty()) return schedule::Precision::F32;
  const auto found = schedule::parse_precision(options.precision);
  if (!found)
    throw user_error("[compile] precision \"{}\" is not known; there are: {}", options.precision,
                     fmt::join(schedule::kPrecisions, ", "));
  if (*found != schedule::Precision::F32 && options.precision_policy &&
      options.precision_policy->policy != PrecisionPolicy::AlwaysF32)
    throw user_error("[compile] precision {} and a precision_policy contradict each other",
                     options.precision);
  if (*found != schedule::Precision::F32 && device_of(options).kind() != Device::Kind::Cuda)
    throw unsupported_error("[compile] precision {} is for GPUs, the device is {}",
                            options.precision, to_string(device_of(options)));
  return *found;
}

// The GPU's own, or the one that was asked for.
int cuda_arch(const CompileOptions& options) {
  const Device device = device_of(options);
  if (device.kind() != Device::Kind::Cuda) {
    if (options.cuda_arch != 0)
      throw user_error("[compile] cuda_arch {} is for GPUs, the device is {}", options.cuda_arch,
                       to_string(device));
    return 0;
  }
  if (!options.codegen.empty())
    throw user_error("[compile] codegen \"{}\" is for CPUs, the device is {}", options.codegen,
                     to_string(device));
  if (!options.cpu.empty())
    throw user_error("[compile] cpu \"{}\" is for CPUs, the device is {}", options.cpu,
                     to_string(device));
  if (options.cuda_arch != 0) return options.cuda_arch;
  const auto found = runtime::cuda_arch(device.index());
  if (!found)
    throw user_error("[compile] {} is not available: {}", to_string(device), found.error().what());
  return found.value();
}

std::optional<FusionLimits> fusion_limits(const FusionOptions& fusion) {
  const FusionLimits limits = fusion.limits.value_or(FusionLimits());
  if (limits.max_steps < 0 || limits.max_inputs < 0)
    throw user_error("[compile] limits of fusion: {} steps, {} inputs; 0 or more are needed",
                     limits.max_steps, limits.max_inputs);
  return fusion.limits;
}

// Other passes are no choice: a model would not compile without them, or mean something else.
std::vector<std::string> skipped_passes(const FusionOptions& fusion) {
  std::vector<std::string> fusions;
  for (const std::string_view pass : driver::pass_names()) {
    if (pass.starts_with("fuse_") || pass.starts_with("fold_")) fusions.emplace_back(pass);
  }
  const std::vector<std::string> skip = fusion.skip.value_or(std::vector<std::string>());
  for (const std::string& pass : skip) {
    if (std::ranges::find(fusions, pass) == fusions.end())
      throw user_error("[compile] fusion.skip: there is no pass \"{}\"; there are: {}", pass,
                       fmt::join(fusions, ", "));
  }
  return skip;
}

void check_names(const CompileOptions& options) {
  if (options.supported_ops) {
    for (const std::string& name : *options.supported_ops) {
      if (!graph::parse_op(name))
        throw user_error("[compile] supported_ops: there is no op \"{}\"", name);
    }
  }
  if (options.dim_binding.empty() || options.dim_bounds.empty()) return;
  for (const auto& [name, bounds] : options.dim_bounds) {
    const auto bound = options.dim_binding.values().find(name);
    if (bound == options.dim_binding.values().end()) continue;
    if (bound->second < bounds.first || bound->second > bounds.second)
      throw user_error("[compile] dim_binding says {} = {}, dim_bounds {}..{}", name, bound->second,
                       bounds.first, bounds.second);
  }
}

template <typename T>
void take(T& field, const T& given) {
  if (given != T()) field = given;
}

}  // namespace

CompileOptions merged(const CompileOptions& base, const CompileOptions& given) {
  CompileOptions result = base;
  take(result.device, given.device);
  take(result.cuda_arch, given.cuda_arch);
  take(result.threads, given.threads);
  take(result.cpu, given.cpu);
  take(result.codegen, given.codegen);
  take(result.precision, given.precision);
  take(result.precision_policy, given.precision_policy);
  take(result.dim_bounds, given.dim_bounds);
  take(result.dim_binding, given.dim_binding);
  take(result.fusion.policy, given.fusion.policy);
  take(result.fusion.limits, given.fusion.limits);
  take(result.fusion.assert_clean, given.fusion.assert_clean);
  take(result.fusion.skip, given.fusion.skip);
  take(result.supported_ops, given.supported_ops);
  take(result.dispatch, given.dispatch);
  take(result.memory, given.memory);
  take(result.optimizer, given.optimizer);
  take(result.tuned, given.tuned);
  if (given.beam) result.beam = given.beam;
  take(result.specialize, given.specialize);
  take(result.profile, given.profile);
  take(result.disk_cache, given.disk_cache);
  take(result.verbosity, given.verbosity);
  take(result.name, given.name);
  return result;
}

CompileOptions with_profile(const CompileOptions& options) {
  if (!options.profile) return options;
  CompileOptions preset;
  switch (*options.profile) {
    case Profile::Latency:
      break;
    case Profile::Throughput:
      preset.threads = 1;
      break;
    case Profile::Debug:
      preset.memory = PlanOptions{.mode = PlanMode::Disabled};
      preset.verbosity = Verbosity::Debug;
      break;
  }
  return merged(preset, options);
}

void check_dim_bounds(const CompileOptions& options) {
  if (!options.dim_bounds.empty())
    throw user_error("[compile] dim_bounds are for models from files: a graph has its own symbols");
}

std::optional<ScopedLogLevel> verbosity_of(const CompileOptions& options) {
  if (!options.verbosity) return std::nullopt;
  return std::optional<ScopedLogLevel>(std::in_place, *options.verbosity);
}

driver::Options driver_options(const CompileOptions& options) {
  if (options.threads < 0)
    throw user_error("[compile] {} threads: 0 or more are needed", options.threads);
  check_names(options);
  driver::Options result;
  result.keep_kernels = specialization_of(options).has_value();
  result.name = name_of(options);
  result.device = device_id(device_of(options)).kind;
  result.cuda_arch = cuda_arch(options);
  result.cpu = target(options.cpu);
  result.codegen = options.codegen;
  result.precision = precision(options);
  result.precision_policy = options.precision_policy.value_or(PrecisionOptions());
  result.plan = options.memory;
  result.optimizer = options.optimizer;
  result.fusion_limits = fusion_limits(options.fusion);
  result.assert_fusion_clean = options.fusion.assert_clean.value_or(false);
  result.skip = skipped_passes(options.fusion);
  result.dispatch = options.dispatch;
  result.supported_ops = options.supported_ops;
  if (const auto tuning = tuning_of(options, result)) tune::use_tuner(result, *tuning);
  return result;
}

}  // namespace tenon
