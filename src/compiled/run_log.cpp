// See run_log.h.
#include "compiled/run_log.h"

#include "base/log.h"
#include "base/trace.h"

namespace tenon::compiled {

RunLog::RunLog() : logged_(log_enabled(LogLevel::Debug)), traced_(tracing()) {
  if (logged_ || traced_) begin_ = Clock::now();
}

void RunLog::done(const std::string& name, const runtime::Executor& executor) const {
  if (logged_ || traced_) say(name, executor.extents_text());
}

void RunLog::done(const std::string& name, size_t sets) const {
  if (logged_ || traced_) say(name, fmt::format(" for {} sets of inputs", sets));
}

void RunLog::say(const std::string& name, const std::string& what) const {
  const auto end = Clock::now();
  if (traced_) trace_event("run", name, what, begin_, end);
  const std::chrono::duration<double, std::milli> took = end - begin_;
  if (logged_) log(LogLevel::Debug, "ran {} in {:.3f} ms{}", name, took.count(), what);
}

}  // namespace tenon::compiled
