// The kernels of a program as functions of this process: mapped code, or functions that were there
// already.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/cpu/executable_code.h"
#include "runtime/device.h"

namespace tenon::runtime::cpu {

class KernelFunctions : public LoadedCode {
 public:
  static Result<std::shared_ptr<const KernelFunctions>> map(const program::Program& program);
  // One for each step of a program instead: the code that `of_step` names, or the program's own
  // where it says -1.
  static Result<std::shared_ptr<const LoadedCode>> map_steps(
      const program::Program& program, std::shared_ptr<const LoadedCode> own,
      std::span<const std::shared_ptr<const program::Code>> code, std::span<const int> of_step);
  // One per Program::code.
  explicit KernelFunctions(std::vector<program::KernelFunction> functions)
      : functions_(std::move(functions)) {}

  program::KernelFunction operator[](int code) const {
    return functions_[static_cast<size_t>(code)];
  }
  const void* stand_in(int code) const override {
    return mapped_.empty() ? reinterpret_cast<const void*>((*this)[code]) : nullptr;
  }

 private:
  std::shared_ptr<const LoadedCode> own_;  // whose functions are among these
  std::vector<ExecutableCode> mapped_;
  std::vector<program::KernelFunction> functions_;
};

}  // namespace tenon::runtime::cpu
