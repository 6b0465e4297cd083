// A piece of memory straight from the system: 64-byte aligned and more, on huge pages where it is
// large, grown to its high-water mark and never shrunk. Arenas, scratch and packed weights live in
// one each.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace tenon::runtime {

class MemoryBlock {
 public:
  MemoryBlock() = default;
  ~MemoryBlock() { release(); }
  MemoryBlock(MemoryBlock&& other) noexcept { swap(other); }
  MemoryBlock& operator=(MemoryBlock&& other) noexcept {
    swap(other);
    return *this;
  }

  // At least `bytes`. Keeps the memory (and its contents) where it suffices, else replaces it by
  // fresh zeroed memory. `purpose` stands in the error message.
  Status reserve(int64_t bytes, const char* purpose);
  std::byte* data() const { return data_; }
  int64_t size() const { return size_; }

 private:
  void swap(MemoryBlock& other) noexcept;
  void release() noexcept;

  std::byte* data_ = nullptr;
  int64_t size_ = 0;
  void* mapping_ = nullptr;
  size_t mapping_bytes_ = 0;
};

}  // namespace tenon::runtime
