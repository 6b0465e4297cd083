// The weights of a program: parameters as given (in the mapped model file or a copy of what the
// user set) and the packed buffers that the prologue makes of them. Apart from the arena: it
// outlives runs and shapes.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/memory_block.h"

namespace tenon::runtime {

class ParamStore {
 public:
  // `program` must outlive the store.
  static Result<ParamStore> make(const program::Program& program);

  // Copies the value. Holds from the next run, which repeats the prologue.
  Status set(std::string_view name, DType dtype, std::span<const int64_t> shape, const void* data);
  Status check_all_set() const;

  const void* param(int index) const { return params_[static_cast<size_t>(index)].data; }
  void* packed(int index) const {
    return packed_.data() + packed_offsets_[static_cast<size_t>(index)];
  }
  int64_t param_bytes() const { return param_bytes_; }
  int64_t packed_bytes() const { return packed_.size(); }

  // Grows with every set(): packed buffers made before are stale.
  uint64_t version() const { return version_; }
  // The prologue has run: parameters that no step of a run reads give their file pages back.
  void release_sources();

 private:
  struct Param {
    const void* data = nullptr;
    int64_t bytes = 0;
    MemoryBlock copy;  // of what the user set
    bool prologue_only = true;
  };

  explicit ParamStore(const program::Program& program) : program_(&program) {}

  const program::Program* program_;
  std::vector<Param> params_;
  MemoryBlock packed_;
  std::vector<int64_t> packed_offsets_;
  int64_t param_bytes_ = 0;
  uint64_t version_ = 1;
};

}  // namespace tenon::runtime
