// A bounded store of values by key, in memory: the store under every cache of a process. A value
// that is absent is made once, however many ask for it; who holds a value keeps it when it is
// evicted.
//
// A hit takes no lock and writes nothing that threads share but the entry's own reference count
// (under Order::Lru its age too): readers look into an immutable index that they name in a hazard
// slot. Whoever changes the store replaces the index, and frees an old one, with the entries that
// went when it was replaced, once nobody reads it.
#pragma once

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"
#include "cache/eviction_order.h"
#include "cache/flights.h"
#include "cache/hazard.h"
#include "cache/read_table.h"

namespace tenon::cache {

template <typename Key, typename Value, typename Hash = std::hash<Key>>
class MemoryStore {
 public:
  using Pointer = std::shared_ptr<Value>;
  // Waits for the work pending on a value that the store lets go. Must not throw.
  using Drain = std::function<void(Value&)>;

  // Of capacity 0 it keeps nothing.
  explicit MemoryStore(size_t capacity, Order order = Order::Fifo, Drain drain = {})
      : order_(order), capacity_(capacity), drain_(std::move(drain)) {}
  ~MemoryStore() { delete index_.load(); }
  MemoryStore(const MemoryStore&) = delete;
  MemoryStore& operator=(const MemoryStore&) = delete;

  // One thread makes what is absent while the others wait. A `make` that throws leaves the store as
  // it was: its caller gets the exception, and who waited tries itself. Another value goes only
  // after this one was made.
  Pointer get_or_make(const Key& key, FunctionRef<Pointer()> make) {
    const uint64_t hash = Hash{}(key);
    if (Pointer found = find(key, hash)) return found;
    Gone gone;
    Pointer value = flights_.run(key, [&] {
      if (Pointer found = find(key, hash)) return found;
      return insert(key, hash, make(), gone);
    });
    drain(gone);
    return value;
  }

  Pointer find(const Key& key) const { return find(key, Hash{}(key)); }  // null: absent
  bool contains(const Key& key) const {                                  // not a use of it
    Hazard hazard;
    return look_up(key, Hash{}(key), hazard) != nullptr;
  }

  bool erase(const Key& key) {  // whether it was there
    return remove_if([&](const Entry& entry) { return entry.key == key; }) > 0;
  }
  void clear() {
    remove_if([](const Entry&) { return true; });
  }

  // Those that are there at the time of the call, in the order in which they came.
  void for_each(FunctionRef<void(Value&)> visit) const {
    std::unique_lock lock(mutex_);
    const Gone entries = entries_;
    lock.unlock();
    for (const auto& entry : entries) visit(*entry->value);
  }

  size_t size() const {
    const std::lock_guard lock(mutex_);
    return entries_.size();
  }
  size_t capacity() const { return capacity_; }
  int64_t made() const {  // by all calls so far
    const std::lock_guard lock(mutex_);
    return made_;
  }

 private:
  // Alone in its cache lines, with the count of those who hold it.
  struct alignas(64) Entry : std::enable_shared_from_this<Entry> {
    Entry(const Key& k, uint64_t h, Pointer v) : key(k), hash(h), value(std::move(v)) {}
    const Key key;
    const uint64_t hash;
    const Pointer value;
    std::atomic<uint64_t> age = 0;
  };
  using Index = ReadTable<Entry>;
  using Gone = std::vector<std::shared_ptr<Entry>>;
  struct Retired {
    Retired(std::unique_ptr<Index> i, Gone e) : index(std::move(i)), entries(std::move(e)) {}
    std::unique_ptr<Index> index;
    Gone entries;  // in this index, and in those before it
  };

  static Pointer handle(Entry& entry) {
    return Pointer(entry.shared_from_this(), entry.value.get());
  }

  Entry* look_up(const Key& key, uint64_t hash, Hazard& hazard) const {
    return hazard.protect(index_)->find(hash, [&](const Entry& entry) { return entry.key == key; });
  }

  Pointer find(const Key& key, uint64_t hash) const {
    Hazard hazard;
    Entry* const entry = look_up(key, hash, hazard);
    if (!entry) return nullptr;
    if (use_makes_young(order_)) {
      const uint64_t now = clock_.load(std::memory_order_relaxed);
      if (entry->age.load(std::memory_order_relaxed) != now)
        entry->age.store(now, std::memory_order_relaxed);
    }
    return handle(*entry);
  }

  Pointer insert(const Key& key, uint64_t hash, Pointer value, Gone& gone) {
    TENON_CHECK(value, "[cache] nothing was made");
    const auto entry = std::make_shared<Entry>(key, hash, std::move(value));
    std::vector<Retired> unused;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    ++made_;
    if (capacity_ == 0) return handle(*entry);
    // The clock stands still between two insertions, so that hits need not write it: what was used
    // after the last insertion is younger than what was inserted by it.
    const uint64_t now = clock_.load(std::memory_order_relaxed) + 1;
    entry->age.store(now, std::memory_order_relaxed);
    clock_.store(now + 1, std::memory_order_relaxed);
    gone = take_leaving();
    entries_.push_back(entry);
    if (gone.empty() && !index_.load()->is_full()) {
      index_.load()->add(*entry);
    } else {
      unused = replace_index(gone);
    }
    return handle(*entry);
  }

  // Makes room for one.
  Gone take_leaving() {
    if (entries_.size() < capacity_) return {};
    std::vector<Candidate> candidates;
    for (const auto& entry : entries_)
      candidates.push_back({.age = entry->age.load(std::memory_order_relaxed)});
    Gone gone;
    for (const size_t at : leaving(candidates, capacity_ - 1))
      gone.push_back(std::move(entries_[at]));
    std::erase(entries_, nullptr);
    return gone;
  }

  template <typename Which>
  size_t remove_if(const Which& which) {
    Gone gone;
    std::vector<Retired> unused;
    {
      const std::lock_guard lock(mutex_);
      for (auto& entry : entries_) {
        if (which(*entry)) gone.push_back(std::move(entry));
      }
      std::erase(entries_, nullptr);
      if (!gone.empty()) unused = replace_index(gone);
    }
    drain(gone);
    return gone.size();
  }

  // An index of the entries; `gone` were in the one before. Returns what nobody reads any more.
  std::vector<Retired> replace_index(const Gone& gone) {
    auto index = std::make_unique<Index>(entries_.size());
    for (const auto& entry : entries_) index->add(*entry);
    Retired& old = retired_.emplace_back(nullptr, gone);
    old.index.reset(index_.exchange(index.release()));
    // In their order: an entry may be in every index before the one it went with.
    auto used = std::ranges::find_if(
        retired_, [](const Retired& each) { return Hazard::is_named(each.index.get()); });
    std::vector<Retired> unused(std::make_move_iterator(retired_.begin()),
                                std::make_move_iterator(used));
    retired_.erase(retired_.begin(), used);
    return unused;
  }

  void drain(const Gone& gone) const {
    if (!drain_) return;
    for (const auto& entry : gone) drain_(*entry->value);
  }

  // What hits read, apart from what misses write.
  alignas(64) std::atomic<Index*> index_ = new Index(0);
  std::atomic<uint64_t> clock_ = 0;
  const Order order_;
  const size_t capacity_;
  const Drain drain_;

  alignas(64) mutable std::mutex mutex_;  // of all below, and of changes to the index
  Gone entries_;                          // in the order in which they came
  std::vector<Retired> retired_;
  int64_t made_ = 0;

  Flights<Key, Pointer> flights_;
};

}  // namespace tenon::cache
