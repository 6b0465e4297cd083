// CPUs: schedules by instruction set and caches, code by one of the generators.
#include "base/error.h"
#include "codegen/generator.h"
#include "driver/backend.h"

namespace tenon::driver {
namespace {

// Steps: code for one costs more the longer the chain is (pow: 40 ms in one of 64, 65 ms in one of
// 256), a value stored and loaded costs as much as two or three; expressions are walked
// recursively, and some thousand steps overflow the stack. Inputs: the sum of 256 tensors takes
// three times as long in one kernel as in sums of 64, for whose pages the TLB has entries.
constexpr FusionLimits kFusionLimits = {.max_steps = 128, .max_inputs = 64};

class CpuBackend : public Backend {
 public:
  explicit CpuBackend(const Options& options)
      : generator_(codegen::find_generator(options.codegen)),
        isa_(options.cpu.isa == CpuIsa::Avx512 ? codegen::Isa::Avx512 : codegen::Isa::Avx2),
        target_(options.cpu.isa == CpuIsa::Avx512
                    ? schedule::avx512_target(options.cpu.l1d, options.cpu.l2)
                    : schedule::avx2_target(options.cpu.l1d, options.cpu.l2)) {
    target_.dot2 = options.cpu.bf16;
    target_.dot4 = options.cpu.vnni;
    target_.plain = cpu_strategy(options).is<OptStrategy::Plain>();
    if (options.cpu.isa == CpuIsa::Generic)
      throw unsupported_error("[cpu] code generation needs a CPU with AVX2 and FMA");
  }

  std::string name() const override { return "cpu"; }
  FusionLimits fusion_limits() const override { return kFusionLimits; }
  bool keeps_channels_last() const override { return true; }
  schedule::Scheduled schedule(const kernel::Kernel& lowered,
                               const schedule::Choice& choice) const override {
    return schedule::schedule(lowered, target_, choice);
  }
  std::shared_ptr<const program::Code> generate(const kernel::Kernel& kernel) const override {
    return generator_.generate(kernel, isa_);
  }
  std::string source(const kernel::Kernel& kernel) const override {
    return generator_.source(kernel, isa_);
  }
  std::string key() const override {
    return fmt::format("{} {}", generator_.name, static_cast<int>(isa_));
  }
  void describe(program::Program& program) const override {
    program.device = program::DeviceKind::Cpu;
    program.cpu.isa = isa_ == codegen::Isa::Avx512 ? CpuIsa::Avx512 : CpuIsa::Avx2;
  }

 private:
  const codegen::Generator& generator_;
  codegen::Isa isa_;
  schedule::Target target_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const Options& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace tenon::driver
