// Hazard slots: a reader uses, without a lock, what a writer may replace at any time. Each thread
// has a slot of its own, a cache line, in which it names what it is reading; who has replaced that
// frees it once no slot names it. A read writes no memory that other threads read, but for writers.
#pragma once

#include <atomic>

namespace tenon::cache {

struct alignas(64) HazardSlot {
  std::atomic<const void*> named = nullptr;
  std::atomic<bool> taken = true;
  HazardSlot* next = nullptr;
};

// While it lives, what it protects is not freed. One at a time in a thread.
class Hazard {
 public:
  Hazard() : slot_(mine_ ? *mine_ : take()) {}
  ~Hazard() {
    slot_.named.store(nullptr, std::memory_order_release);
    if (!mine_) slot_.taken.store(false, std::memory_order_release);
  }
  Hazard(const Hazard&) = delete;
  Hazard& operator=(const Hazard&) = delete;

  // What `source` points to. Both accesses are sequentially consistent, as are the writer's store
  // of another pointer and its look at the slots after that: one of the two sees the other.
  template <typename T>
  T* protect(const std::atomic<T*>& source) {
    T* seen = source.load(std::memory_order_acquire);
    while (true) {
      slot_.named.store(seen);
      T* const again = source.load();
      if (again == seen) return seen;
      seen = again;
    }
  }

  // Whether any thread reads it.
  static bool is_named(const void* pointer);

 private:
  static HazardSlot& take();

  static inline constinit thread_local HazardSlot* mine_ = nullptr;  // null: none yet, or no more
  HazardSlot& slot_;
};

}  // namespace tenon::cache
