// A compiled graph to be measured: one thread, memory for one set of extents at a time.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include "graph/graph.h"
#include "runtime/executor.h"
#include "runtime/memory_block.h"

namespace tenon::bench {

using Clock = std::chrono::steady_clock;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Streams that begin at the same place of a page compete for the same banks and sets: buffers lie
// this much further each.
inline constexpr int64_t kSkewBytes = 2048;

// Floats are random, integers one. The memory is of the kind that a program's own intermediates
// have (huge pages where the system gives them).
class Subject {
 public:
  explicit Subject(const graph::Graph& graph);

  void bind(const std::vector<std::vector<int64_t>>& shapes);  // of the inputs; runs once
  void run();
  const std::vector<runtime::IoView>& inputs() const { return inputs_; }
  float* output() { return reinterpret_cast<float*>(output_.data() + output_skew_); }
  double flops() const { return static_cast<double>(executor_->flops()); }

 private:
  std::unique_ptr<runtime::Executor> executor_;
  std::vector<DType> dtypes_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<runtime::MemoryBlock> memory_;
  std::vector<runtime::IoView> inputs_;
  std::vector<int64_t> extents_;
  runtime::MemoryBlock output_;
  int64_t output_skew_ = 0;
};

}  // namespace tenon::bench
