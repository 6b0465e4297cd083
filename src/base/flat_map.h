// FlatMap: from pointers, or what is one and a number, to small values, in one array. Passes that
// touch every node of a large graph wait for memory more than for anything else; an entry here is
// one place in memory where an unordered_map has three.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace tenon {

// Key() is no key: it marks what is free. Entries stay; references are good until the next insert.
template <typename Key, typename T>
class FlatMap {
 public:
  explicit FlatMap(size_t expected = 0)
      : slots_(std::bit_ceil(expected * 2 + kLeast)), shift_(shift_for(slots_.size())) {}

  // The entry of the key, made where there is none; whether it was made.
  std::pair<T&, bool> insert(const Key& key) {
    if (size_ * 2 >= slots_.size()) grow();
    Slot& slot = slots_[place_of(key)];
    const bool fresh = slot.key == Key();
    if (fresh) slot.key = key, ++size_;
    return {slot.value, fresh};
  }
  T& operator[](const Key& key) { return insert(key).first; }
  const T* find(const Key& key) const {  // null: none
    const Slot& slot = slots_[place_of(key)];
    return slot.key == Key() ? nullptr : &slot.value;
  }
  bool contains(const Key& key) const { return find(key) != nullptr; }
  size_t size() const { return size_; }

 private:
  struct Slot {
    Key key{};
    [[no_unique_address]] T value{};
  };
  static constexpr size_t kLeast = 16;
  static int shift_for(size_t slots) { return 64 - std::countr_zero(slots); }

  // Where the key is, or the free place where it belongs. The upper bits of a product depend on all
  // bits of the hash, of which the lowest are the same for all pointers.
  size_t place_of(const Key& key) const {
    const uint64_t mixed = uint64_t{std::hash<Key>()(key)} * 0x9E3779B97F4A7C15u;
    size_t at = static_cast<size_t>(mixed >> shift_);
    while (slots_[at].key != Key() && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    shift_ = shift_for(slots_.size());
    for (Slot& slot : old) {
      if (slot.key != Key()) slots_[place_of(slot.key)] = std::move(slot);
    }
  }

  std::vector<Slot> slots_;
  int shift_;
  size_t size_ = 0;
};

template <typename Key>
class FlatSet {
 public:
  explicit FlatSet(size_t expected = 0) : keys_(expected) {}
  bool insert(const Key& key) { return keys_.insert(key).second; }  // whether it is new
  bool contains(const Key& key) const { return keys_.contains(key); }

 private:
  struct Nothing {};
  FlatMap<Key, Nothing> keys_;
};

}  // namespace tenon
