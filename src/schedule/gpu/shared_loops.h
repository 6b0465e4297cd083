// The loops and reductions of a row that its threads share: those that stand in no other one of
// these.
#pragma once

#include <vector>

#include "kernel/kernel.h"

namespace tenon::schedule {

inline constexpr int64_t kWarp = 32;

struct SharedLoop {
  Symbol symbol;
  Dim extent;
};
std::vector<SharedLoop> shared_loops(const kernel::Block& body);

}  // namespace tenon::schedule
