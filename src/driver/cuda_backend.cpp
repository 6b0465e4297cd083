// GPUs through CUDA: schedules for blocks of threads, code as cubins.
#include "base/error.h"
#include "codegen/cuda/generate.h"
#include "driver/backend.h"
#include "schedule/gpu/schedule.h"

namespace tenon::driver {
namespace {

constexpr int64_t kArenaAlignment = 256;  // as device memory itself

class CudaBackend : public Backend {
 public:
  explicit CudaBackend(const Options& options)
      : arch_(options.cuda_arch), precision_(options.precision) {
    check_gpu_strategy(options);
    if (arch_ < 80)
      throw unsupported_error("[cuda] code is generated for architecture 80 and newer, not {}",
                              arch_);
  }

  std::string name() const override { return "cuda"; }
  bool claims(const graph::Node& node) const override { return has_gpu_kernel(node); }
  FusionLimits fusion_limits() const override { return kGpuFusionLimits; }
  schedule::Scheduled schedule(const kernel::Kernel& lowered,
                               const schedule::Choice&) const override {
    return schedule::schedule_for_gpu(lowered, {.precision = precision_});
  }
  std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel) const override {
    return codegen::cuda::generate(kernel, arch_);
  }
  std::string source(const kernel::Kernel& kernel) const override {
    return codegen::cuda::source(kernel, arch_);
  }
  std::string key() const override { return fmt::format("cuda {}", arch_); }
  void describe(program::Program& program) const override {
    program.device = program::DeviceKind::Cuda;
    program.cuda_arch = arch_;
    program.plan.alignment = kArenaAlignment;
  }

 private:
  int arch_;
  schedule::Precision precision_;
};

}  // namespace

std::unique_ptr<Backend> make_cuda_backend(const Options& options) {
  return std::make_unique<CudaBackend>(options);
}

}  // namespace tenon::driver
