// The memory between steps: one block per stage of a run, laid out by the plan. A stage's block is
// placed when its symbols have values; blocks of earlier stages stay where they are.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/dim_table.h"
#include "runtime/memory_block.h"

namespace tenon::runtime {

class Arena {
 public:
  // `program`, `variables` and `memory` must outlive the arena.
  static Result<Arena> make(const program::Program& program, const Variables& variables,
                            Memory& memory);

  // Computes the stage's offsets; gives its bytes. Reserves nothing.
  Result<int64_t> measure(int stage, std::span<const int64_t> variables);
  Status place(int stage);  // as measured last
  // Where a buffer of a placed stage lies; not a view.
  void* at(int buffer) const;
  // Bytes from a view's root to the view.
  int64_t view_offset(int buffer) const;
  int64_t bytes() const { return bytes_; }  // of all stages, measured last
  int64_t bytes_through(int stage) const;   // of those up to this one

 private:
  struct Stage {
    DimTable dims;
    int bytes = 0;  // position in dims
    int64_t measured = 0;
    MemoryBlock block;
  };

  struct Position {
    int stage = 0, at = 0;  // in the stage's dims
  };

  std::vector<Stage> stages_;
  std::vector<Position> positions_;  // per buffer: in its stage's block; of a view: in its root
  int64_t bytes_ = 0;
};

}  // namespace tenon::runtime
