#include "driver/backend.h"

#include "base/error.h"
#include "base/knobs.h"

namespace tenon::driver {

OptStrategy cpu_strategy(const Options& options) {
  if (options.optimizer || knobs().optimizer.empty())
    return options.optimizer.value_or(OptStrategy());
  try {
    return OptStrategy::parse(knobs().optimizer);
  } catch (const Error& error) {
    throw user_error("[TENON_OPTIMIZER] {}", error.what());
  }
}

void check_gpu_strategy(const Options& options) {
  if (options.optimizer && !options.optimizer->is<OptStrategy::Analytic>())
    throw unsupported_error("[compile] optimizer {} is for CPUs, the device is {}",
                            to_string(*options.optimizer), program::name_of(options.device));
}

bool has_gpu_kernel(const graph::Node& node) { return node.op() != graph::Op::GatedLinear; }

std::unique_ptr<Backend> make_backend(const Options& options) {
  constexpr decltype(&make_cpu_backend) kMakers[] = {
#define DEVICE(kind, name, backend, family) backend,
#include "program/devices.def"
#undef DEVICE
  };
  return kMakers[static_cast<int>(options.device)](options);
}

}  // namespace tenon::driver
