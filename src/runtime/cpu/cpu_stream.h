// The host as a device: its memory is ours, and what is asked of it is done at once.
#pragma once

#include <memory>

#include "base/thread_pool.h"
#include "runtime/cpu/kernel_functions.h"
#include "runtime/device.h"

namespace tenon::runtime::cpu {

class CpuStream : public DeviceStream {
 public:
  // `functions`, where given, stand for the code of whatever program is loaded.
  explicit CpuStream(ThreadPool& pool, std::shared_ptr<const KernelFunctions> functions = nullptr)
      : pool_(pool), functions_(std::move(functions)) {}

  Result<Allocation> allocate(int64_t bytes, const char* purpose) override {
    return host_memory().allocate(bytes, purpose);
  }
  void release(const Allocation& allocation) noexcept override {
    host_memory().release(allocation);
  }
  bool shares_host_memory() const override { return true; }
  int max_threads() const override { return pool_.max_threads(); }
  std::shared_ptr<Memory> lasting_memory() override;

  Result<std::shared_ptr<const LoadedCode>> load(const program::Program& program) override;
  Result<std::unique_ptr<StepRunner>> prepare(StepList steps,
                                              std::shared_ptr<const LoadedCode> code) override;

  Status copy_in(void* to, const void* from, int64_t bytes) override;
  Status copy_out(void* to, const void* from, int64_t bytes) override;
  Status copy_within(void* to, const void* from, int64_t bytes) override;
  Status synchronize() override { return {}; }

 private:
  ThreadPool& pool_;
  std::shared_ptr<const KernelFunctions> functions_;
};

}  // namespace tenon::runtime::cpu
