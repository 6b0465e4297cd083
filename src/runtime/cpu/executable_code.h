// A kernel's machine code, mapped: copied to fresh pages, checked against its digest, made
// executable and read-only. The code is self-contained and position-independent, so that is all
// there is to loading it.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "program/program.h"

namespace tenon::runtime::cpu {

class ExecutableCode {
 public:
  static Result<ExecutableCode> map(const program::Code& code);
  ~ExecutableCode();
  ExecutableCode(ExecutableCode&& other) noexcept;
  ExecutableCode& operator=(ExecutableCode&& other) noexcept;

  program::KernelFunction function() const { return function_; }

 private:
  ExecutableCode() = default;

  void* pages_ = nullptr;
  size_t bytes_ = 0;
  program::KernelFunction function_ = nullptr;
};

}  // namespace tenon::runtime::cpu
