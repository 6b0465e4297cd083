// See specialized.h.
#include "api/specialized.h"

#include <mutex>

#include "api/driver_options.h"
#include "base/error.h"
#include "base/knobs.h"
#include "driver/specialize_kernels.h"
#include "runtime/run_counts.h"

namespace tenon {

std::optional<Specialization> specialization_of(const CompileOptions& options) {
  const bool is_cpu = device_of(options).kind() == Device::Kind::Cpu;
  const auto& given = options.specialize;
  if (!given)
    return is_cpu && knobs().specialize == "1" ? std::optional(Specialization()) : std::nullopt;
  if (given->after < 1 || given->after > runtime::RunCounts::kMost)
    throw user_error("[compile] specialize after {} runs: 1..{} are possible", given->after,
                     runtime::RunCounts::kMost);
  if (!(given->cpu_share > 0 && given->cpu_share <= 1))
    throw user_error("[compile] specialize with {} of a core: more than 0, at most 1 is possible",
                     given->cpu_share);
  if (given->most < 0)
    throw user_error("[compile] specialize for {} sets of extents: 0 or more are possible",
                     given->most);
  if (given->most == 0) return std::nullopt;
  if (!is_cpu)
    throw unsupported_error("[compile] specialize is for the CPU, the device is {}",
                            to_string(device_of(options)));
  return given;
}

namespace {

// Made when it is first needed.
class LazyCompiler {
 public:
  LazyCompiler(ScheduledKernels kernels, const driver::Options& options)
      : kernels_(std::move(kernels)), options_(options) {}

  const driver::KernelSpecializer& get() {
    std::call_once(once_, [&] {
      compiler_.emplace(kernels_(), options_);
      kernels_ = nullptr;
    });
    return *compiler_;
  }

 private:
  std::once_flag once_;
  ScheduledKernels kernels_;
  driver::Options options_;
  std::optional<driver::KernelSpecializer> compiler_;
};

}  // namespace

std::shared_ptr<compiled::Specializer> specialize(runtime::Executor& executor,
                                                  std::shared_ptr<const program::Program> program,
                                                  ScheduledKernels kernels,
                                                  const CompileOptions& options) {
  const auto how = specialization_of(options);
  if (!how || !compiled::why_not_special(*program).empty()) return nullptr;
  const auto compiler = std::make_shared<LazyCompiler>(std::move(kernels), driver_options(options));
  const auto make = [compiler](int kernel, std::span<const int64_t> dims) {
    compiled::SpecialCode special;
    special.code = compiler->get().generate(kernel, dims, special.compiled);
    return special;
  };
  auto specializer =
      std::make_shared<compiled::Specializer>(std::move(program), executor.code(), *how, make);
  executor.use_variants(specializer);
  return specializer;
}

}  // namespace tenon
