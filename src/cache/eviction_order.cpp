// See eviction_order.h.
#include "cache/eviction_order.h"

#include <algorithm>
#include <numeric>

namespace tenon::cache {

std::vector<size_t> leaving(std::span<const Candidate> candidates, uint64_t limit) {
  uint64_t weight = 0;
  for (const Candidate& candidate : candidates) weight += candidate.weight;
  if (weight <= limit) return {};
  // Mostly one goes of many: a heap finds it without sorting all.
  std::vector<size_t> rest(candidates.size());
  std::iota(rest.begin(), rest.end(), size_t{0});
  const auto younger = [&](size_t a, size_t b) {
    return candidates[a].age != candidates[b].age ? candidates[a].age > candidates[b].age : a > b;
  };
  std::ranges::make_heap(rest, younger);
  std::vector<size_t> gone;
  while (weight > limit) {
    std::ranges::pop_heap(rest, younger);
    gone.push_back(rest.back());
    weight -= candidates[rest.back()].weight;
    rest.pop_back();
  }
  return gone;
}

}  // namespace tenon::cache
