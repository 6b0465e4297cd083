// Steps bound in advance: for each the function, a table of buffer pointers, its dims, its grid and
// its number of threads, all in flat arrays. A run walks the list; new extents or new memory
// rewrite entries, nothing is allocated.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
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

  // Points every reference to a buffer of this kind, or to a view of one, at where(buffer).
  template <typename Where>
  void point(program::BufferKind kind, Where where) {
    for (const Reference& reference : references_[static_cast<size_t>(kind)]) {
      pointers_[reference.at] = where(reference.buffer);
    }
  }

  // The most scratch that a worker needs, and the most workers of a step.
  int64_t scratch_bytes() const { return scratch_bytes_; }
  int workers() const { return static_cast<int>(faults_.size()); }

  // Walks the steps. `scratch` has workers() pieces of scratch_bytes(). An index found out of range
  // by a kernel ends the run with a User error that names the step.
  Status run(ThreadPool& pool, std::byte* scratch);

 private:
  struct Bound {
    program::KernelFunction function;
    int pointers, dims;  // first entries in pointers_ and dim_values_
    int threads = 1;
    int64_t grid = 0;
  };
  struct Positions {  // in dims_
    int grid, scratch, flops, bytes;
    int dims_begin;  // in dim_positions_
  };
  struct Reference {
    int at;  // in pointers_
    program::BufferRef buffer;
  };
  // A worker's own: written without sharing a cache line.
  struct alignas(64) Fault {
    std::array<int64_t, 8> words{};
  };

  void bind(const program::Step& step, program::KernelFunction function);
  void run_step(const Bound& step, ThreadPool& pool, std::byte* scratch);
  Status check_fault(size_t step);

  const program::Program* program_ = nullptr;
  std::span<const program::Step> steps_;
  std::vector<Bound> bound_;
  std::vector<Positions> positions_;
  std::vector<int> dim_positions_;
  std::vector<int64_t> dim_values_;
  std::vector<void*> pointers_;
  std::array<std::vector<Reference>, 6> references_;  // by the root's BufferKind
  DimTable dims_;
  int64_t flops_ = 0;
  int64_t scratch_bytes_ = 0;
  std::vector<Fault> faults_;
};

}  // namespace tenon::runtime
