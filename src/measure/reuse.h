// How far back memory was touched last: what a cache of a given size still holds. A cache that
// forgets what was not used for longest has a byte if no more than its size was touched since.
#pragma once

#include <cstdint>
#include <vector>

#include "base/function_ref.h"

namespace tenon::measure {

class Reuse {
 public:
  // Nothing is known of what lies further back than this many bytes.
  explicit Reuse(int64_t horizon) : horizon_(horizon) {}

  // A sweep over [begin, end). `part` is told, part by part, how many bytes it is and how many
  // different ones were touched since the same byte was (itself included): kNever where that lies
  // beyond the horizon.
  static constexpr int64_t kNever = INT64_MAX;
  void touch(uintptr_t begin, uintptr_t end, FunctionRef<void(int64_t bytes, int64_t since)> part);

 private:
  struct Range {
    uintptr_t begin, end;
    int64_t bytes() const { return static_cast<int64_t>(end - begin); }
  };
  // Removes from `from` what it has in common with `range`; how much that is.
  static int64_t cut(std::vector<Range>& from, const Range& range);

  int64_t horizon_;
  std::vector<Range> touched_;  // disjoint, the last one touched last
};

}  // namespace tenon::measure
