// Limits on what the interpreter may do, for graphs that nobody trusts: elements of one tensor, and
// nodes evaluated, those of bodies each time they run. Beyond them a run is a User error.
#pragma once

#include <cstdint>

namespace tenon::graph {

struct RunLimits {
  int64_t elements = int64_t{1} << 48;
  int64_t steps = INT64_MAX;
};

// For this thread, until it goes.
class LimitRuns {
 public:
  explicit LimitRuns(const RunLimits& limits);
  ~LimitRuns();
  LimitRuns(const LimitRuns&) = delete;
  LimitRuns& operator=(const LimitRuns&) = delete;

 private:
  RunLimits before_;
};

int64_t element_limit();
void count_step();  // before a node is evaluated

}  // namespace tenon::graph
