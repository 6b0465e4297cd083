// The buffers that a program's prologue makes of its parameters: packed, converted, concatenated
// weights. Made once, then only read, by every executor that shares them.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/memory_block.h"

namespace tenon::runtime {

class PackedWeights {
 public:
  // In memory that may outlive any stream.
  static Result<std::shared_ptr<PackedWeights>> make(const program::Program& program,
                                                     std::shared_ptr<Memory> memory);

  void* at(int index) const { return block_.data() + offsets_[static_cast<size_t>(index)]; }
  int64_t bytes() const { return block_.size(); }

  // Has `fill` write the buffers, unless it did before. Whoever comes meanwhile waits; after an
  // error, the next one tries again.
  Status make_once(const std::function<Status()>& fill);
  void outdate();  // parameters changed: the next make_once fills them again

 private:
  explicit PackedWeights(std::shared_ptr<Memory> memory)
      : memory_(std::move(memory)), block_(*memory_) {}

  std::shared_ptr<Memory> memory_;
  MemoryBlock block_;
  std::vector<int64_t> offsets_;
  std::mutex filling_;
  bool filled_ = false;
};

}  // namespace tenon::runtime
