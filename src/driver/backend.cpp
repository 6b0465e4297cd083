#include "driver/backend.h"

#include "legalize/decompose_fused.h"

namespace tenon::driver {

bool Backend::claims(const graph::Node& node) const { return legalize::has_kernel(node); }

std::unique_ptr<Backend> make_backend(const Options& options) {
  constexpr decltype(&make_cpu_backend) kMakers[] = {make_cpu_backend, make_cuda_backend,
                                                     make_emulated_backend};
  return kMakers[static_cast<int>(options.device)](options);
}

}  // namespace tenon::driver
