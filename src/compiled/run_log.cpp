// See run_log.h.
#include "compiled/run_log.h"

#include "base/log.h"

namespace tenon::compiled {

RunLog::RunLog() : wanted_(log_enabled(LogLevel::Debug)) {
  if (wanted_) begin_ = Clock::now();
}

void RunLog::done(const std::string& name, const runtime::Executor& executor) const {
  if (wanted_) say(name, executor.extents_text());
}

void RunLog::done(const std::string& name, size_t sets) const {
  if (wanted_) say(name, fmt::format(" for {} sets of inputs", sets));
}

void RunLog::say(const std::string& name, const std::string& what) const {
  const std::chrono::duration<double, std::milli> took = Clock::now() - begin_;
  log(LogLevel::Debug, "ran {} in {:.3f} ms{}", name, took.count(), what);
}

}  // namespace tenon::compiled
