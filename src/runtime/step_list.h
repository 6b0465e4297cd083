// Steps bound in advance: for each a table of buffer pointers, its dims and its grid, all in flat
// arrays. New extents or new memory rewrite entries, nothing is allocated. How the steps run is the
// device's: see StepRunner.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/dim_table.h"

namespace tenon::runtime {

class StepList {
 public:
  // `program` and `steps` must outlive the list.
  static Result<StepList> make(const program::Program& program,
                               std::span<const program::Step> steps, const Variables& variables);

  // New values of the variables: computes dims and grids.
  Status resolve(std::span<const int64_t> variables);
  int64_t flops() const { return flops_; }  // of all steps, at the extents resolved last

  // Points every reference to a buffer of this kind, or to a view of one, at where(buffer).
  template <typename Where>
  void point(program::BufferKind kind, Where where) {
    for (const Reference& reference : references_[static_cast<size_t>(kind)]) {
      pointers_[reference.at] = where(reference.buffer);
    }
  }

  int size() const { return static_cast<int>(steps_.size()); }
  const program::Step& step(int index) const { return steps_[static_cast<size_t>(index)]; }
  // At the extents resolved last. The tables stay where they are.
  int64_t grid(int index) const { return dims_[at(index).grid]; }
  int64_t scratch_bytes(int index) const { return dims_[at(index).scratch]; }  // per worker
  int64_t flops(int index) const { return dims_[at(index).flops]; }
  int64_t bytes(int index) const { return dims_[at(index).bytes]; }
  const program::Program& program() const { return *program_; }
  double microseconds(int index) const;  // by the estimate
  std::span<void* const> pointers(int index) const {
    return {pointers_.data() + at(index).pointers, step(index).buffers.size()};
  }
  std::span<const int64_t> dims(int index) const {
    return {dim_values_.data() + at(index).dims, step(index).dims.size()};
  }

  // What a kernel's fault words mean, for the user.
  Error fault(int index, std::span<const int64_t> words) const;

 private:
  struct Positions {
    int pointers, dims;               // first entries in pointers_ and dim_values_
    int grid, scratch, flops, bytes;  // in dims_
  };
  struct Reference {
    int at;  // in pointers_
    program::BufferRef buffer;
  };

  void bind(const program::Step& step);
  const Positions& at(int index) const { return positions_[static_cast<size_t>(index)]; }

  const program::Program* program_ = nullptr;
  std::span<const program::Step> steps_;
  std::vector<Positions> positions_;
  std::vector<int> dim_positions_;
  std::vector<int64_t> dim_values_;
  std::vector<void*> pointers_;
  std::array<std::vector<Reference>, 6> references_;  // by the root's BufferKind
  DimTable dims_;
  int64_t flops_ = 0;
};

}  // namespace tenon::runtime
