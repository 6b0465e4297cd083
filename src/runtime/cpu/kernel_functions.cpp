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

}  // namespace tenon::runtime::cpu
