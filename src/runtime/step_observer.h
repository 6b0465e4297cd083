// Who wants to know when each step of a run began and ended. Observed steps run one after the
// other, each on the threads that it is worth, also where they would run at the same time: what a
// step takes is its own.
#pragma once

#include <chrono>
#include <span>

#include "runtime/dim_table.h"

namespace tenon::runtime {

class StepList;

using StepClock = std::chrono::steady_clock;

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // Before the steps of a list, where symbols have these values; their pointers are those of the
  // run.
  virtual void begins(const StepList& /*steps*/, const Variables& /*variables*/,
                      std::span<const int64_t> /*values*/) {}
  virtual void ran(const StepList& steps, int index, StepClock::time_point begin,
                   StepClock::time_point end) = 0;
};

}  // namespace tenon::runtime
