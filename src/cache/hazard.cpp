// The slots of all threads: a list that only grows, by as many as there were threads at once.
#include "cache/hazard.h"

namespace tenon::cache {
namespace {

constinit std::atomic<HazardSlot*> first = nullptr;
constinit thread_local bool thread_ends = false;

HazardSlot& free_slot() {
  for (HazardSlot* slot = first.load(); slot; slot = slot->next) {
    bool taken = false;
    if (slot->taken.compare_exchange_strong(taken, true)) return *slot;
  }
  auto* slot = new HazardSlot;  // kept until the process ends: a writer may look at it any time
  slot->next = first.load();
  while (!first.compare_exchange_weak(slot->next, slot)) {
  }
  return *slot;
}

}  // namespace

// A thread keeps its slot until it ends. What reads even later, when thread-local objects are
// destroyed, has one for that read only.
HazardSlot& Hazard::take() {
  struct GiveBack {
    ~GiveBack() {
      mine_->taken.store(false, std::memory_order_release);
      mine_ = nullptr;
      thread_ends = true;
    }
  };
  HazardSlot& slot = free_slot();
  if (!thread_ends) {
    mine_ = &slot;
    static thread_local GiveBack give_back;
  }
  return slot;
}

bool Hazard::is_named(const void* pointer) {
  for (const HazardSlot* slot = first.load(); slot; slot = slot->next) {
    if (slot->named.load() == pointer) return true;
  }
  return false;
}

}  // namespace tenon::cache
