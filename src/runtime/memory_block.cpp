#include "runtime/memory_block.h"

namespace tenon::runtime {

// What is held goes first: both together may be more than there is.
Status MemoryBlock::replace(int64_t bytes, const char* purpose) {
  if (bytes > kMostBytes)
    return user_error("{} bytes for {} are more than any machine has", bytes, purpose);
  release();
  const Result<Allocation> fresh = memory_->allocate(bytes, purpose);
  if (!fresh) return fresh.error();
  held_ = fresh.value();
  return {};
}

void MemoryBlock::release() noexcept {
  if (held_.mapping) memory_->release(held_);
  held_ = {};
}

}  // namespace tenon::runtime
