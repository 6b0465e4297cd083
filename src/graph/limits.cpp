// See limits.h.
#include "graph/limits.h"

#include "base/error.h"

namespace tenon::graph {

namespace {
thread_local RunLimits current;  // steps: how many are left
}

LimitRuns::LimitRuns(const RunLimits& limits) : before_(current) { current = limits; }
LimitRuns::~LimitRuns() { current = before_; }

int64_t element_limit() { return current.elements; }

void count_step() {
  if (current.steps == INT64_MAX) return;
  if (current.steps-- <= 0) throw user_error("the run takes more steps than it may");
}

}  // namespace tenon::graph
