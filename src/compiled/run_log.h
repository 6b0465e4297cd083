// TENON_LOG=debug: a line for each run, with its time and its extents; likewise an event of the
// trace. Where nobody listens a run pays two relaxed loads.
#pragma once

#include <chrono>
#include <string>

#include "runtime/executor.h"

namespace tenon::compiled {

// Made when a run begins.
class RunLog {
 public:
  RunLog();
  void done(const std::string& name, const runtime::Executor& executor) const;
  void done(const std::string& name, size_t sets) const;  // of inputs, in one call

 private:
  using Clock = std::chrono::steady_clock;
  void say(const std::string& name, const std::string& what) const;
  bool logged_, traced_;
  Clock::time_point begin_;
};

}  // namespace tenon::compiled
