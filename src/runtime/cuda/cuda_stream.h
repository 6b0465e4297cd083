// A stream of a GPU. Copies from and to the host pass through pinned memory, in parts: the host
// copies one while the device copies another. Kernels report faults to words on the device, which
// are looked at whenever the stream is synchronized.
#pragma once

#include <memory>
#include <vector>

#include "base/function_ref.h"
#include "base/thread_pool.h"
#include "runtime/cuda/gpu.h"
#include "runtime/cuda/staging.h"
#include "runtime/device.h"

namespace tenon::runtime::cuda {

struct StreamOptions {
  bool graphs = true;          // launches are recorded and replayed
  ThreadPool* pool = nullptr;  // for large copies by the host
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
  Status append_out(std::vector<std::byte>& to, const void* from, int64_t bytes) override;
  Status copy_within(void* to, const void* from, int64_t bytes) override;
  Status synchronize() override;
  void note_in(Timeline* timeline) override { timeline_ = timeline; }

  const Gpu& gpu() const { return *gpu_; }
  void* handle() const { return stream_; }
  uint64_t fault_words() const { return fault_words_; }
  const StreamOptions& options() const { return options_; }

  // Steps that report faults get numbers, from the one returned on.
  int64_t enlist(const StepList& steps);
  void strike(const StepList& steps) noexcept;
  void note_launch() { launched_ = busy_ = true; }  // faults may have been reported

  // Does what `work` asks of the stream, and notes when the device did it where that is wanted.
  Status noted(DevicePart part, FunctionRef<Status()> work);

 private:
  struct Enlisted {
    int64_t first;
    const StepList* steps;
  };

  CudaStream(std::shared_ptr<Gpu> gpu, const StreamOptions& options)
      : gpu_(std::move(gpu)), options_(options), staging_(*gpu_, options.pool) {}
  Status create();
  Status check(int result, const char* call) const { return gpu_->driver().check(result, call); }
  Status receive(Destination to, const void* from, int64_t bytes);
  Result<std::unique_ptr<Moment>> moment();
  Status take_fault();

  std::shared_ptr<Gpu> gpu_;
  StreamOptions options_;
  Staging staging_;
  void* stream_ = nullptr;
  uint64_t fault_words_ = 0;              // on the device
  int64_t* fault_copy_ = nullptr;         // pinned
  bool launched_ = false, busy_ = false;  // since the last time it was synchronized
  Timeline* timeline_ = nullptr;
  std::vector<Enlisted> enlisted_;
  int64_t next_number_ = 0;
};

}  // namespace tenon::runtime::cuda
