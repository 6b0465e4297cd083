// Steps bound in advance: for each the function, a table of buffer pointers, its dims, its grid and
// its number of threads, all in flat arrays. A run walks the list; new extents or new memory
// rewrite entries, nothing is allocated.
//
// Steps of a wave are independent. Where one of them cannot occupy all threads, it runs together
// with its neighbours: a batch. Which items a call computes has no influence on what they are, so
// results do not depend on how steps are batched.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <vector>

#include "base/result.h"
#include "base/thread_pool.h"
#include "program/program.h"
#include "runtime/dim_table.h"

namespace tenon::runtime {

class StepList {
 public:
  // `functions` has one per Program::code; `program` and `steps` must outlive the list.
  static Result<StepList> make(const program::Program& program,
                               std::span<const program::Step> steps,
                               std::span<const program::KernelFunction> functions,
                               const Variables& variables);

  // New values of the variables: computes dims and grids, with at most `threads` threads per step.
  Status resolve(std::span<const int64_t> variables, int threads);
  int64_t flops() const { return flops_; }  // of all steps, at the extents resolved last
  int batches() const { return static_cast<int>(batches_.size()); }  // likewise

  // Points every reference to a buffer of this kind, or to a view of one, at where(buffer).
  template <typename Where>
  void point(program::BufferKind kind, Where where) {
    for (const Reference& reference : references_[static_cast<size_t>(kind)]) {
      pointers_[reference.at] = where(reference.buffer);
    }
  }

  // The most scratch that a worker needs, and the most workers of a step.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  int workers() const { return workers_; }

  // Walks the steps. `scratch` has workers() pieces of scratch_bytes(). An index found out of range
  // by a kernel ends the run with a User error that names the step; a stop that was asked for ends
  // it with the User error "[run] cancelled", at the next piece of work.
  Status run(ThreadPool& pool, std::byte* scratch, const std::stop_token& stop = {});
  bool was_stopped() const { return was_stopped_; }  // whether that ended the last run

 private:
  struct Bound {
    program::KernelFunction function;
    int pointers, dims;  // first entries in pointers_ and dim_values_
    int threads = 1;
    int64_t grid = 0;
    int64_t piece = 1;  // items between two looks at the stop token
  };
  struct Positions {  // in dims_
    int grid, scratch, flops, bytes;
  };
  struct Reference {
    int at;  // in pointers_
    program::BufferRef buffer;
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

  void bind(const program::Step& step, program::KernelFunction function);
  void make_batches(int threads);
  void add_batch(int first, int last, int threads);
  void run_batch(const Batch& batch, ThreadPool& pool, std::byte* scratch,
                 const std::stop_token& stop);
  void run_items(int step, int64_t begin, int64_t end, std::byte* scratch, int worker,
                 const std::stop_token& stop);
  double microseconds(int step) const;
  Status check_faults(int workers);

  const program::Program* program_ = nullptr;
  std::span<const program::Step> steps_;
  std::vector<Bound> bound_;
  std::vector<Positions> positions_;
  std::vector<int> dim_positions_;
  std::vector<int64_t> dim_values_;
  std::vector<void*> pointers_;
  std::array<std::vector<Reference>, 6> references_;  // by the root's BufferKind
  DimTable dims_;
  std::vector<Batch> batches_;
  std::vector<Unit> units_;
  int64_t flops_ = 0;
  int64_t scratch_bytes_ = 0;
  int workers_ = 1;
  bool was_stopped_ = false;
  std::vector<Fault> faults_;  // per worker
};

}  // namespace tenon::runtime
