// When each arena buffer is in use: positions on one line of time.
#pragma once

#include <span>
#include <vector>

#include "plan/timeline.h"
#include "program/program.h"

namespace tenon::plan {

struct Life {
  int begin = -1,
      end = -1;  // first and last moment that touches the buffer, both included; -1: none does
  bool used() const { return begin >= 0; }
};

// One per arena buffer; views have none, they live in their roots. Throws Internal where a buffer
// is read before it is written, and where a step of a run reads what the prologue left in the
// arena: the arena does not last from one run to the next.
std::vector<Life> arena_lives(const program::Program& program, std::span<const Moment> moments);

}  // namespace tenon::plan
