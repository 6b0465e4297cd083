// A GPU that is not there: scheduled as for one; the code of a kernel is its text, which
// emulate/emulated_gpu.h runs.
#include "driver/backend.h"
#include "schedule/gpu/schedule.h"

namespace tenon::driver {
namespace {

class EmulatedBackend : public Backend {
 public:
  explicit EmulatedBackend(const Options& options) : precision_(options.precision) {
    check_gpu_strategy(options);
  }

  std::string name() const override { return "emulated-gpu"; }
  bool claims(const graph::Node& node) const override { return has_gpu_kernel(node); }
  FusionLimits fusion_limits() const override { return kGpuFusionLimits; }
  schedule::Scheduled schedule(const kernel::Kernel& lowered,
                               const schedule::Choice&) const override {
    return schedule::schedule_for_gpu(lowered, {.precision = precision_});
  }
  std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel) const override {
    program::Code code;
    code.name = kernel.name;
    const std::string text = source(kernel);
    const auto bytes = std::as_bytes(std::span(text));
    code.bytes.assign(bytes.begin(), bytes.end());
    code.digest = digest_of(text);
    return std::make_shared<const program::Code>(std::move(code));
  }
  std::string source(const kernel::Kernel& kernel) const override { return kernel::print(kernel); }
  std::string key() const override { return "emulated"; }
  void describe(program::Program& program) const override {
    program.device = program::DeviceKind::EmulatedGpu;
  }

 private:
  schedule::Precision precision_;
};

}  // namespace

std::unique_ptr<Backend> make_emulated_backend(const Options& options) {
  return std::make_unique<EmulatedBackend>(options);
}

}  // namespace tenon::driver
