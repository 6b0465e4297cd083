#include "runtime/cpu/kernel_functions.h"

namespace tenon::runtime::cpu {

Result<std::shared_ptr<const KernelFunctions>> KernelFunctions::map(
    const program::Program& program) {
  auto loaded = std::make_shared<KernelFunctions>(std::vector<program::KernelFunction>());
  for (const auto& code : program.code) {
    if (!code) return internal_error("[program] a kernel has no code");
    Result<ExecutableCode> result = ExecutableCode::map(*code);
    if (!result) return result.error();
    loaded->functions_.push_back(result.value().function());
    loaded->mapped_.push_back(std::move(result.value()));
  }
  return std::shared_ptr<const KernelFunctions>(std::move(loaded));
}

Result<std::shared_ptr<const LoadedCode>> KernelFunctions::map_steps(
    const program::Program& program, std::shared_ptr<const LoadedCode> own,
    std::span<const std::shared_ptr<const program::Code>> code, std::span<const int> of_step) {
  const auto& functions = static_cast<const KernelFunctions&>(*own);
  auto loaded = std::make_shared<KernelFunctions>(std::vector<program::KernelFunction>());
  for (const auto& each : code) {
    Result<ExecutableCode> result = ExecutableCode::map(*each);
    if (!result) return result.error();
    loaded->mapped_.push_back(std::move(result.value()));
  }
  for (size_t step = 0; step < program.steps.size(); ++step) {
    loaded->functions_.push_back(
        of_step[step] < 0 ? functions[program.steps[step].code]
                          : loaded->mapped_[static_cast<size_t>(of_step[step])].function());
  }
  loaded->own_ = std::move(own);
  return std::shared_ptr<const LoadedCode>(std::move(loaded));
}

}  // namespace tenon::runtime::cpu
