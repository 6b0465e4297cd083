// Who goes when a store is full: the one rule of all stores, in memory and on disk. The oldest goes
// first; the orders differ in what makes an entry young again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tenon::cache {

enum class Order : uint8_t {
  Fifo,  // nothing does
  Lru,   // each use
};

constexpr bool use_makes_young(Order order) { return order == Order::Lru; }

struct Candidate {
  uint64_t age = 0;     // by a counter of the store: the lowest is the oldest
  uint64_t weight = 1;  // bytes, or 1 where entries are counted
};

// Which of them go so that the others weigh at most `limit`, oldest first. Of equally old ones the
// first goes first.
std::vector<size_t> leaving(std::span<const Candidate> candidates, uint64_t limit);

}  // namespace tenon::cache
