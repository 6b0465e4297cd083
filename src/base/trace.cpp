// The one trace of the process. Events are appended behind an array that is complete: a flush
// writes them over its closing bracket, and a new one.
#include "base/trace.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"
#include "base/knobs.h"
#include "base/log.h"

namespace tenon {
namespace {

constexpr size_t kFlushAt = size_t{1} << 20;
constexpr std::string_view kEnd = "\n]\n";

enum class State : uint8_t { Unknown, Off, On };
std::atomic<State> g_state = State::Unknown;

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

class Trace {
 public:
  void start(const std::string& path) {
    const std::lock_guard lock(mutex_);
    write();
    std::unique_ptr<std::FILE, CloseFile> opened(std::fopen(path.c_str(), "w"));
    if (!opened) throw user_error("[trace] {} cannot be written", path);
    file_ = std::move(opened);
    process_ = getpid();
    first_ = true;
    pending_ = "[";
    write();
    g_state = State::On;
  }

  void add(const std::string& event) {
    const std::lock_guard lock(mutex_);
    if (!file_) return;
    pending_ += std::exchange(first_, false) ? "\n" : ",\n";
    pending_ += event;
    if (pending_.size() > kFlushAt) write();
  }

  void flush() {
    const std::lock_guard lock(mutex_);
    write();
  }

  void end() {
    const std::lock_guard lock(mutex_);
    write();
    file_.reset();
    g_state = State::Off;
  }

 private:
  // The closing bracket stays until there is more to say.
  void write() {
    if (!file_ || pending_.empty() || getpid() != process_) return;  // a child has no trace
    if (std::ftell(file_.get()) > 0)
      std::fseek(file_.get(), -static_cast<long>(kEnd.size()), SEEK_CUR);
    std::fwrite(pending_.data(), 1, pending_.size(), file_.get());
    std::fwrite(kEnd.data(), 1, kEnd.size(), file_.get());
    std::fflush(file_.get());
    pending_.clear();
  }

  std::mutex mutex_;
  std::unique_ptr<std::FILE, CloseFile> file_;
  std::string pending_;
  pid_t process_ = 0;
  bool first_ = true;
};

Trace& trace() {
  static auto* trace = new Trace;  // outlives every static destructor that may still add to it
  return *trace;
}

void start(const std::string& path) {
  trace().start(path);
  static const int kAtExit = std::atexit([] { trace().flush(); });
  static_cast<void>(kAtExit);
}

// Work must not fail because of a trace: what is wrong with TENON_TRACE is said in the log.
State state_of_environment() {
  try {
    const std::string& path = knobs().trace;
    if (path.empty()) return State::Off;
    start(path);
    return State::On;
  } catch (const Error& error) {
    log(LogLevel::Warning, "{}", error.what());
    return State::Off;
  }
}

double microseconds(TraceClock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

void start_trace(const std::string& path) { start(path); }
void flush_trace() { trace().flush(); }
void end_trace() { trace().end(); }

bool tracing() {
  State state = g_state.load(std::memory_order_relaxed);
  if (state == State::Unknown) {
    static const State kOfEnvironment = state_of_environment();
    State expected = State::Unknown;
    g_state.compare_exchange_strong(expected, kOfEnvironment);
    state = g_state.load();
  }
  return state == State::On;
}

void trace_event(std::string_view kind, std::string_view name, std::string_view detail,
                 TraceClock::time_point begin, TraceClock::time_point end) {
  trace().add(fmt::format(
      R"({{"name": {}, "cat": {}, "ph": "X", "ts": {:.3f}, "dur": {:.3f}, "pid": {}, "tid": {}, "args": {{"kind": {}, "of": {}}}}})",
      json_text(name), json_text(kind), microseconds(begin.time_since_epoch()),
      microseconds(end - begin), getpid(), gettid(), json_text(kind), json_text(detail)));
}

}  // namespace tenon
