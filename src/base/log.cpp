// The process's log: its level, its sink, and stderr as the sink of last resort.
#include "base/log.h"

#include <atomic>
#include <cstdio>
#include <iterator>
#include <mutex>

#include "base/knobs.h"

namespace tenon {
namespace {

constexpr std::string_view kNames[] = {"debug", "info", "warning", "error", "off"};

constexpr int kUnset = -1;
std::atomic<int> g_level{kUnset};
thread_local int t_level = kUnset;

struct SinkHolder {
  std::mutex mutex;
  LogSink sink;
};

SinkHolder& sink_holder() {
  static auto* holder = new SinkHolder;  // outlives every static destructor that may still log
  return *holder;
}

void write_to_stderr(LogLevel level, std::string_view message) {
  const std::string line = fmt::format("tenon {}: {}\n", to_string(level), message);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

// Logging must not fail, so a bad TENON_LOG is left for knobs() to report to a caller who can act
// on it.
int level_of_environment() {
  try {
    for (size_t i = 0; i < std::size(kNames); ++i) {
      if (knobs().log == kNames[i]) return static_cast<int>(i);
    }
  } catch (const tenon::Error&) {
  }
  return static_cast<int>(LogLevel::Warning);
}

}  // namespace

std::string_view to_string(LogLevel level) { return kNames[static_cast<size_t>(level)]; }

void set_log_sink(LogSink sink) {
  SinkHolder& holder = sink_holder();
  const std::lock_guard lock(holder.mutex);
  holder.sink = std::move(sink);
}

void set_log_level(LogLevel level) { g_level.store(static_cast<int>(level)); }

ScopedLogLevel::ScopedLogLevel(LogLevel level)
    : before_(std::exchange(t_level, static_cast<int>(level))) {}
ScopedLogLevel::~ScopedLogLevel() { t_level = before_; }

LogLevel log_level() {
  if (t_level != kUnset) return static_cast<LogLevel>(t_level);
  int level = g_level.load(std::memory_order_relaxed);
  if (level == kUnset) {
    int expected = kUnset;
    level = level_of_environment();
    if (!g_level.compare_exchange_strong(expected, level)) level = expected;
  }
  return static_cast<LogLevel>(level);
}

void log_message(LogLevel level, std::string_view message) {
  SinkHolder& holder = sink_holder();
  const std::lock_guard lock(holder.mutex);
  if (holder.sink) {
    holder.sink(level, message);
  } else {
    write_to_stderr(level, message);
  }
}

}  // namespace tenon
