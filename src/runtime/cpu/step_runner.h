// Steps on the threads of a pool.
//
// Steps of a wave are independent. Where one of them cannot occupy all threads, it runs together
// with its neighbours: a batch. Which items a call computes has no influence on what they are, so
// results do not depend on how steps are batched.
#pragma once

#include <array>
#include <vector>

#include "base/thread_pool.h"
#include "runtime/cpu/kernel_functions.h"
#include "runtime/device.h"

namespace tenon::runtime::cpu {

class CpuStepRunner : public StepRunner {
 public:
  CpuStepRunner(StepList steps, std::shared_ptr<const KernelFunctions> functions, ThreadPool& pool);

  Status resolve(std::span<const int64_t> variables, int threads) override;
  void run_code(std::shared_ptr<const LoadedCode> by_step) override;
  int64_t scratch_bytes() const override { return scratch_bytes_ * workers_; }
  // When it returns, the steps have run: a stop ends it at the next piece of work.
  Status run(std::byte* scratch, const std::stop_token& stop) override;
  Status run_observed(std::byte* scratch, const std::stop_token& stop,
                      StepObserver& observer) override;

 private:
  struct Call {
    program::KernelFunction function;
    void* const* pointers;
    const int64_t* dims;
    int threads = 1;
    int64_t grid = 0;
    int64_t piece = 1;  // items between two looks at the stop token
  };
  // Steps first .. last - 1, run at the same time. Of one step: its items. Of several: units.
  struct Batch {
    int first, last;
    int threads;
    int units_begin, units_end;  // in units_
  };
  struct Unit {
    int step;
    int64_t begin, end;  // items
  };
  // A worker's own: written without sharing a cache line.
  struct alignas(64) Fault {
    std::array<int64_t, program::kFaultWords> words{};
    int step = -1;
  };

  void make_batches(int threads);
  void add_batch(int first, int last, int threads);
  void run_batch(const Batch& batch, std::byte* scratch, const std::stop_token& stop);
  void run_items(int step, int64_t begin, int64_t end, std::byte* scratch, int worker,
                 const std::stop_token& stop);
  // Whether the run goes on after that batch.
  Status check(const Batch& batch, const std::stop_token& stop);
  Status check_faults(int workers);

  std::shared_ptr<const KernelFunctions> functions_;
  std::shared_ptr<const KernelFunctions> by_step_;  // instead of them; null: none are
  ThreadPool& pool_;
  std::vector<Call> calls_;
  std::vector<Batch> batches_;
  std::vector<Unit> units_;
  int64_t scratch_bytes_ = 0;  // of a worker
  int workers_ = 1;
  std::vector<Fault> faults_;  // per worker
};

}  // namespace tenon::runtime::cpu
