// Staged loops: a loop of a block that fills shared memory, waits, and computes from it. With
// several copies of that memory the steps to come are filled while one is computed.
#pragma once

#include <optional>
#include <set>
#include <span>

#include "kernel/kernel.h"

namespace tenon::codegen::cuda {

struct Pipeline {
  const kernel::Loop* fill;               // over threads
  std::span<const kernel::Stmt> compute;  // between the two barriers
  std::set<int> buffers;                  // that are filled
  int depth;                              // copies of each
};

// A loop [fill, barrier, compute, barrier] whose fill stores only to shared buffers of several
// copies and reads nothing that the rest of the loop stores.
std::optional<Pipeline> find_pipeline(const kernel::Kernel& kernel, const kernel::Loop& loop);

}  // namespace tenon::codegen::cuda
