// What the steps of runs took and moved. An observer of runs: those it times, and one it looks at
// for where the bytes of each step come from.
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "measure/reuse.h"
#include "program/program.h"
#include "runtime/step_list.h"
#include "runtime/step_observer.h"

namespace tenon::measure {

// Bytes by where they come from: a level of the memory for each.
struct Moved {
  std::vector<double> read, written;
};

struct StepProfile {
  const program::Step* step;
  const program::Code* code;
  std::vector<double> milliseconds;  // of each timed run
  // Of one run. A step runs more than once in the body of a loop.
  int launches = 0;
  double flops = 0, bytes = 0;
  Moved moved;  // together `bytes`
};

class RunProfile : public runtime::StepObserver {
 public:
  // How much each level holds, nearest first; the last one holds everything.
  explicit RunProfile(std::vector<int64_t> levels);

  // What the next run is for. Bytes are where a run of the same before it left them.
  void trace_next();
  void time_next();

  void begins(const runtime::StepList& steps, const runtime::Variables& variables,
              std::span<const int64_t> values) override;
  void ran(const runtime::StepList& steps, int index, runtime::StepClock::time_point begin,
           runtime::StepClock::time_point end) override;

  const std::vector<StepProfile>& steps() const { return steps_; }  // in the order of the first run

 private:
  // Sizes of all operands of a list of steps.
  struct Sizes {
    runtime::DimTable dims;
    std::vector<std::vector<int>> of_step;  // positions in dims
  };
  StepProfile& profile(const runtime::StepList& steps, int index);
  void trace(const runtime::StepList& steps, int index, StepProfile& profile);
  std::vector<int64_t> touched_bytes(const runtime::StepList& steps, int index) const;
  size_t level_of(int64_t since) const;

  std::vector<int64_t> levels_;
  Reuse reuse_;
  bool tracing_ = false;
  std::vector<StepProfile> steps_;
  std::unordered_map<const program::Step*, size_t> numbers_;
  std::unordered_map<const runtime::StepList*, Sizes> sizes_;
};

}  // namespace tenon::measure
