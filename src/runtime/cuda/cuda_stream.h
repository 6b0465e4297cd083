// A stream of a GPU. Copies from and to the host pass through pinned memory; kernels report faults
// to words on the device, which are looked at whenever the stream is synchronized.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cuda/gpu.h"
#include "runtime/cuda/staging.h"
#include "runtime/device.h"

namespace tenon::runtime::cuda {

struct StreamOptions {
  bool graphs = true;  // launches are recorded and replayed
};

class CudaStream : public DeviceStream {
 public:
  static Result<std::shared_ptr<CudaStream>> open(std::shared_ptr<Gpu> gpu,
                                                  const StreamOptions& options);
  ~CudaStream() override;

  Result<Allocation> allocate(int64_t bytes, const char* purpose) override;
  void release(const Allocation& allocation) noexcept override;
  bool shares_host_memory() const override { return false; }
  int max_threads() const override { return 1; }
  std::shared_ptr<Memory> lasting_memory() override { return gpu_; }

  Result<std::shared_ptr<const LoadedCode>> load(const program::Program& program) override;
  Result<std::unique_ptr<StepRunner>> prepare(StepList steps,
                                              std::shared_ptr<const LoadedCode> code) override;

  Status copy_in(void* to, const void* from, int64_t bytes) override;
  Status copy_out(void* to, const void* from, int64_t bytes) override;
  Status copy_within(void* to, const void* from, int64_t bytes) override;
  Status synchronize() override;

  const Gpu& gpu() const { return *gpu_; }
  void* handle() const { return stream_; }
  uint64_t fault_words() const { return fault_words_; }
  const StreamOptions& options() const { return options_; }

  // Steps that report faults get numbers, from the one returned on.
  int64_t enlist(const StepList& steps);
  void strike(const StepList& steps) noexcept;
  void note_launch() { launched_ = busy_ = true; }  // faults may have been reported

 private:
  // A copy to the host that waits in pinned memory.
  struct Arrival {
    void* to;
    const std::byte* from;
    int64_t bytes;
  };
  struct Enlisted {
    int64_t first;
    const StepList* steps;
  };

  CudaStream(std::shared_ptr<Gpu> gpu, const StreamOptions& options)
      : gpu_(std::move(gpu)), options_(options), staging_(gpu_) {}
  Status create();
  Status check(int result, const char* call) const { return gpu_->driver().check(result, call); }
  Result<std::byte*> stage(int64_t bytes);
  void deliver_arrivals();
  Status take_fault();

  std::shared_ptr<Gpu> gpu_;
  StreamOptions options_;
  Staging staging_;
  void* stream_ = nullptr;
  uint64_t fault_words_ = 0;              // on the device
  int64_t* fault_copy_ = nullptr;         // pinned
  bool launched_ = false, busy_ = false;  // since the last time it was synchronized
  std::vector<Arrival> arrivals_;
  std::vector<Enlisted> enlisted_;
  int64_t next_number_ = 0;
};

}  // namespace tenon::runtime::cuda
