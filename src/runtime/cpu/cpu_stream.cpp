#include "runtime/cpu/cpu_stream.h"

#include <cstring>

#include "runtime/cpu/step_runner.h"

namespace tenon::runtime::cpu {
namespace {

Status copy(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
  return {};
}

}  // namespace

std::shared_ptr<Memory> CpuStream::lasting_memory() {
  return {std::shared_ptr<void>(), &host_memory()};  // owned by nobody
}

Result<std::shared_ptr<const LoadedCode>> CpuStream::load(const program::Program& program) {
  if (program.device != program::DeviceKind::Cpu) {
    return user_error("[run] the program was compiled for {}, not for the CPU",
                      program::name_of(program.device));
  }
  if (functions_) return std::shared_ptr<const LoadedCode>(functions_);
  auto mapped = KernelFunctions::map(program);
  if (!mapped) return mapped.error();
  return std::shared_ptr<const LoadedCode>(std::move(mapped.value()));
}

Result<std::unique_ptr<StepRunner>> CpuStream::prepare(StepList steps,
                                                       std::shared_ptr<const LoadedCode> code) {
  auto functions = std::static_pointer_cast<const KernelFunctions>(std::move(code));
  return std::unique_ptr<StepRunner>(
      std::make_unique<CpuStepRunner>(std::move(steps), std::move(functions), pool_));
}

Status CpuStream::copy_in(void* to, const void* from, int64_t bytes) {
  return copy(to, from, bytes);
}
Status CpuStream::copy_out(void* to, const void* from, int64_t bytes) {
  return copy(to, from, bytes);
}
Status CpuStream::copy_within(void* to, const void* from, int64_t bytes) {
  return copy(to, from, bytes);
}

}  // namespace tenon::runtime::cpu
