// How often each set of extents ran, without a lock and in constant memory: sets that fall on one
// slot push each other out, so that a count may begin anew.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tenon::runtime {

class RunCounts {
 public:
  // How often, with this run; no further than kMost.
  int add(uint64_t hash);
  void forget(uint64_t hash);

  static constexpr int kMost = 0xFFFF;

 private:
  static constexpr size_t kSlots = 1024;
  // The upper bits of the hash, and the count.
  std::atomic<uint64_t>& slot(uint64_t hash) { return slots_[hash % kSlots]; }

  std::array<std::atomic<uint64_t>, kSlots> slots_{};
};

}  // namespace tenon::runtime
