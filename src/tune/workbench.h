// A kernel's tensors in memory of their own, filled with random numbers, where its candidates run:
// for their results, which must be the same bits, and for their times. As in a run of a program: by
// the step runner of the CPU, on the threads of the process's pool.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "base/result.h"
#include "driver/backend.h"
#include "runtime/cpu/cpu_stream.h"
#include "runtime/memory_block.h"
#include "tune/extents.h"

namespace tenon::tune {

// A schedule of the kernel with its code, ready to run in the workbench that it was prepared for.
class Candidate {
 public:
  Candidate(const kernel::Kernel& scheduled, std::shared_ptr<const program::Code> code);
  Candidate(const Candidate&) = delete;
  Candidate& operator=(const Candidate&) = delete;

 private:
  friend class Workbench;
  program::Program program_;
  std::vector<std::pair<kernel::Source, int>> tensors_;  // of program_.arena
  std::unique_ptr<runtime::StepRunner> runner_;
  runtime::MemoryBlock scratch_;
  int runs_per_slice_ = 1;
};

class Workbench {
 public:
  // threads 0: as many as this process may use. Throws User where there is no such memory, or the
  // kernel fails on whatever numbers are in it: then it cannot be tuned.
  Workbench(const driver::Backend& backend, const schedule::Scheduled& by_model,
            const Extents& extents, int threads);

  // Throws Internal where the code cannot be loaded.
  std::unique_ptr<Candidate> prepare(const kernel::Kernel& scheduled,
                                     std::shared_ptr<const program::Code> code);
  // Runs it once: whether it gives what the model's schedule gave.
  bool gives_the_same(Candidate& candidate);
  // Milliseconds of a run, from as many of them as make a slice of about that length. Caches are
  // as the run before left them.
  double time(Candidate& candidate, double slice_ms);

  Candidate& by_model() { return *by_model_; }

 private:
  struct Tensor {
    runtime::MemoryBlock memory;
    int64_t bytes = 0;
    int64_t skew = 0;
    DType dtype = DType::F32;
    bool written = false;
    std::vector<std::byte> before, after;  // of one that is written: its contents around a run
    std::byte* data() const { return memory.data() + skew; }
  };
  using Tensors = std::map<std::pair<kernel::Source, int>, Tensor>;

  void add_tensors(const kernel::Kernel& kernel, bool is_pack);
  void fill(bool zero_indices);
  void pack(const driver::Backend& backend, const schedule::Scheduled& by_model);
  Status run(Candidate& candidate);

  Extents extents_;
  int threads_;
  Tensors tensors_;
  std::unique_ptr<Candidate> by_model_;
};

}  // namespace tenon::tune
