// A cubin, loaded: the function that kernels of this code are launched with.
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/cuda/gpu.h"
#include "runtime/device.h"

namespace tenon::runtime::cuda {

class Module {
 public:
  static Result<std::shared_ptr<const Module>> load(std::shared_ptr<const Gpu> gpu,
                                                    const program::Code& code);
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  void* function() const { return function_; }
  unsigned threads() const { return threads_; }
  unsigned shared_bytes() const { return shared_bytes_; }

 private:
  explicit Module(std::shared_ptr<const Gpu> gpu) : gpu_(std::move(gpu)) {}
  Status find_function(const program::Code& code);

  std::shared_ptr<const Gpu> gpu_;
  void *module_ = nullptr, *function_ = nullptr;
  unsigned threads_ = 0, shared_bytes_ = 0;
};

// The modules of a program, one per Program::code.
class Modules : public LoadedCode {
 public:
  static Result<std::shared_ptr<const Modules>> load(Gpu& gpu, const program::Program& program);
  const Module& operator[](int code) const { return *modules_[static_cast<size_t>(code)]; }

 private:
  std::vector<std::shared_ptr<const Module>> modules_;
};

}  // namespace tenon::runtime::cuda
