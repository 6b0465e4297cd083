// Steps as kernel launches on a stream. What differs from run to run is in a block of argument
// words in device memory, sent when it changed. So launches are recorded once, as a CUDA graph, and
// replayed at other extents and with other memory; only the number of blocks is part of the record.
#pragma once

#include <memory>
#include <vector>

#include "runtime/cuda/cuda_stream.h"
#include "runtime/cuda/module.h"
#include "runtime/cuda/recorded_launches.h"
#include "runtime/device.h"
#include "runtime/memory_block.h"

namespace tenon::runtime::cuda {

class CudaStepRunner : public StepRunner {
 public:
  CudaStepRunner(StepList steps, std::shared_ptr<const Modules> modules, CudaStream& stream);
  ~CudaStepRunner() override;

  Status resolve(std::span<const int64_t> variables, int threads) override;
  int64_t scratch_bytes() const override { return scratch_bytes_; }
  // Launches. A stop is looked at before; where nothing is recorded, before each step.
  Status run(std::byte* scratch, const std::stop_token& stop) override;

 private:
  int64_t most_blocks(int step) const;
  int64_t wanted_blocks(int step) const;
  bool is_stale(int step) const;
  void choose_blocks();
  void write_arguments(std::byte* scratch);
  Status send_arguments(std::byte* scratch);
  Status launch(int step);
  Status launch_all(const std::stop_token& stop);
  Status record();

  std::shared_ptr<const Modules> modules_;
  CudaStream& stream_;
  int64_t first_number_;
  std::vector<int64_t> blocks_;         // of each step
  std::vector<size_t> offsets_;         // of each step's words
  std::vector<uint64_t> words_, sent_;  // sent_: as they are on the device
  MemoryBlock arguments_;               // there
  int64_t scratch_bytes_ = 0;
  RecordedLaunches recorded_;
  int runs_ = 0;  // that were not recorded
};

}  // namespace tenon::runtime::cuda
