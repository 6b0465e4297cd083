// A device that computes nothing: scheduled and planned as for this machine's CPU, without code.
#include "driver/backend.h"

namespace tenon::driver {
namespace {

class NullBackend : public Backend {
 public:
  explicit NullBackend(const Options& options) : cpu_(make_cpu_backend(options)) {}

  std::string name() const override { return "null"; }
  bool claims(const graph::Node& node) const override { return cpu_->claims(node); }
  FusionLimits fusion_limits() const override { return cpu_->fusion_limits(); }
  schedule::Scheduled schedule(const kernel::Kernel& lowered,
                               const schedule::Choice& choice) const override {
    return cpu_->schedule(lowered, choice);
  }
  std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel) const override {
    program::Code code;
    code.name = kernel.name;
    code.bytes.resize(1);  // nobody calls it
    return std::make_shared<const program::Code>(std::move(code));
  }
  std::string source(const kernel::Kernel& kernel) const override { return kernel::print(kernel); }
  std::string key() const override { return "null"; }
  void describe(program::Program& program) const override {
    program.device = program::DeviceKind::Null;
  }

 private:
  std::unique_ptr<Backend> cpu_;
};

}  // namespace

std::unique_ptr<Backend> make_null_backend(const Options& options) {
  return std::make_unique<NullBackend>(options);
}

}  // namespace tenon::driver
