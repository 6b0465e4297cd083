// Decides which arena buffers share memory. A buffer lives from the first moment that touches it to
// the last (timeline.h); buffers whose lives do not overlap may take the same slot of the arena.
// Sizes are symbolic, so that one plan serves every shape: a slot's size is an expression too, and
// sharing happens only where it cannot cost memory at any shape.
#pragma once

#include "plan/plan_options.h"
#include "program/program.h"

namespace tenon::plan {

// What planning took, in comparisons.
struct PlanCost {
  int64_t comparisons = 0;  // of byte ranges
  int64_t slots_tried = 0;
};

// Finds the waves, lets results overwrite operands, fills ArenaBuffer::slot of every buffer that a
// step uses (-1 for the others) and Program::plan. Throws Internal where a step reads a buffer that
// no earlier step wrote: the steps are in a wrong order.
// An alignment that is not one is a User error.
PlanCost plan_arena(program::Program& program, const Options& options = {});

// What sharing gave.
struct Figures {
  Dim arena_size = 0;
  Dim total_unshared_bytes = 0;
  Dim bytes_saved = 0;     // of these
  int buffers_reused = 0;  // that took memory another one had before
};
Figures figures(const program::Program& program);

}  // namespace tenon::plan
