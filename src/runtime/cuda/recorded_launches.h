// Launches recorded as a CUDA graph: many of them at the price of one.
#pragma once

#include "base/function_ref.h"
#include "base/result.h"
#include "runtime/cuda/cuda_stream.h"

namespace tenon::runtime::cuda {

class RecordedLaunches {
 public:
  explicit RecordedLaunches(CudaStream& stream) : stream_(stream) {}
  ~RecordedLaunches() { clear(); }
  RecordedLaunches(const RecordedLaunches&) = delete;
  RecordedLaunches& operator=(const RecordedLaunches&) = delete;

  bool ready() const { return executable_ != nullptr; }
  // What `launches` launches on the stream is recorded instead of run. For the current GPU.
  Status record(FunctionRef<Status()> launches);
  Status replay();
  void clear() noexcept;

 private:
  CudaStream& stream_;
  void* executable_ = nullptr;
};

}  // namespace tenon::runtime::cuda
