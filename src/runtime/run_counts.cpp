#include "runtime/run_counts.h"

namespace tenon::runtime {
namespace {

constexpr uint64_t kCount = RunCounts::kMost;

}  // namespace

int RunCounts::add(uint64_t hash) {
  const uint64_t first = (hash & ~kCount) | 1;
  uint64_t seen = slot(hash).load(std::memory_order_relaxed), next = 0;
  do {
    const bool is_same = ((seen ^ hash) & ~kCount) == 0;
    if (is_same && (seen & kCount) == kCount) return kMost;
    next = is_same ? seen + 1 : first;
  } while (!slot(hash).compare_exchange_weak(seen, next, std::memory_order_relaxed));
  return static_cast<int>(next & kCount);
}

void RunCounts::forget(uint64_t hash) {
  uint64_t seen = slot(hash).load(std::memory_order_relaxed);
  if (((seen ^ hash) & ~kCount) == 0)
    slot(hash).compare_exchange_strong(seen, 0, std::memory_order_relaxed);
}

}  // namespace tenon::runtime
