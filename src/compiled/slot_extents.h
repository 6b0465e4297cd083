// The extents of inputs for run_slots, where bytes come without them: what set_extents said. How
// long a state is, its handle knows: a symbol that only states have needs no value, and one that is
// given must be the handle's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "program/program.h"
#include "tenon/dim_binding.h"

namespace tenon::compiled {

class SlotExtents {
 public:
  // A value for each symbol of the inputs; others, missing ones and those outside their bounds are
  // User errors. A bucket's axis has all its rows.
  SlotExtents(const program::Program& program, const DimBinding& extents);

  std::span<const int64_t> of(size_t input) const { return shapes_[input]; }
  // A User error where the handle of a state is of another shape than was said.
  void check_state(const program::IoSlot& slot, size_t input, std::span<const int64_t> bound) const;

 private:
  std::vector<std::vector<int64_t>> shapes_;  // per input; -1, of a state: not said
};

bool needs_extents(const program::Program& program);  // for run_slots

}  // namespace tenon::compiled
