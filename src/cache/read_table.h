// A hash table that any number of threads read while one writes: entries are added, never removed
// (a table without them replaces it) and never owned.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tenon::cache {

// Entry: has `hash`.
template <typename Entry>
class ReadTable {
 public:
  // With room for as many again.
  explicit ReadTable(size_t entries) : slots_(std::bit_ceil(4 * (entries + 1))) {}

  // The entry with that hash of which `is_it` is true; null: none.
  template <typename IsIt>
  Entry* find(uint64_t hash, const IsIt& is_it) const {
    for (size_t at = first_slot(hash);; at = next_slot(at)) {
      Entry* const entry = slots_[at].load(std::memory_order_acquire);
      if (!entry || (entry->hash == hash && is_it(*entry))) return entry;
    }
  }

  bool is_full() const { return 2 * (entries_ + 1) > slots_.size(); }  // then probing is long

  void add(Entry& entry) {
    size_t at = first_slot(entry.hash);
    while (slots_[at].load(std::memory_order_relaxed)) at = next_slot(at);
    slots_[at].store(&entry, std::memory_order_release);
    ++entries_;
  }

 private:
  // By the high bits of a product: the hash of a number may be that number.
  size_t first_slot(uint64_t hash) const {
    return static_cast<size_t>((hash * 0x9E3779B97F4A7C15u) >> 32) & (slots_.size() - 1);
  }
  size_t next_slot(size_t at) const { return (at + 1) & (slots_.size() - 1); }

  std::vector<std::atomic<Entry*>> slots_;  // as many as a power of two; null: free
  size_t entries_ = 0;                      // the writer's
};

}  // namespace tenon::cache
