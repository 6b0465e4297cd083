#include "driver/backend.h"

namespace tenon::driver {

bool has_gpu_kernel(const graph::Node& node) { return node.op() != graph::Op::GatedLinear; }

std::unique_ptr<Backend> make_backend(const Options& options) {
  constexpr decltype(&make_cpu_backend) kMakers[] = {make_cpu_backend, make_cuda_backend,
                                                     make_emulated_backend, make_null_backend};
  return kMakers[static_cast<int>(options.device)](options);
}

}  // namespace tenon::driver
