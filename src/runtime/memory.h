// Where memory comes from: the system, or a device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace tenon::runtime {

struct Allocation {
  std::byte* data = nullptr;
  int64_t size = 0;          // at least what was asked for
  void* mapping = nullptr;   // what the source gives back; often `data` itself
  size_t mapping_bytes = 0;  // likewise
};

class Memory {
 public:
  virtual ~Memory() = default;
  // `bytes` is above 0; `purpose` stands in the error message. 64-byte aligned and more.
  virtual Result<Allocation> allocate(int64_t bytes, const char* purpose) = 0;
  virtual void release(const Allocation& allocation) noexcept = 0;
};

// Straight from the system, zeroed.
Memory& host_memory();

// More than any address space has: a size that was computed wrongly.
inline constexpr int64_t kMostBytes = int64_t{1} << 46;

}  // namespace tenon::runtime
