// A piece of memory that grows to its high-water mark and never shrinks. Arenas, scratch and packed
// weights live in one each.
#pragma once

#include <utility>

#include "runtime/memory.h"

namespace tenon::runtime {

class MemoryBlock {
 public:
  MemoryBlock() : MemoryBlock(host_memory()) {}
  explicit MemoryBlock(Memory& memory) : memory_(&memory) {}  // which must outlive the block
  ~MemoryBlock() { release(); }
  MemoryBlock(MemoryBlock&& other) noexcept : MemoryBlock() { swap(other); }
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    swap(other);
    return *this;
  }

  // At least `bytes`. Keeps the memory (and its contents) where it suffices, else replaces it by
  // fresh memory. `purpose` stands in the error message.
  Status reserve(int64_t bytes, const char* purpose) {
    return bytes <= held_.size ? Status() : replace(bytes, purpose);
  }
  std::byte* data() const { return held_.data; }
  int64_t size() const { return held_.size; }

 private:
  Status replace(int64_t bytes, const char* purpose);
  void release() noexcept;
  void swap(MemoryBlock& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(held_, other.held_);
  }

  Memory* memory_;
  Allocation held_;
};

}  // namespace tenon::runtime
