// Log: messages with a level, sent to one sink that the host may replace. Off the hot path only; a
// message below the level costs one relaxed load.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

namespace tenon {

enum class LogLevel : uint8_t { Debug, Info, Warning, Error, Off };

std::string_view to_string(LogLevel level);

// Called by one thread at a time; must not log itself.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

void set_log_sink(LogSink sink);  // an empty sink restores stderr
void set_log_level(LogLevel level);
LogLevel log_level();  // at first what TENON_LOG says; a bad value there counts as `warning`

// The level of this thread while it lives, whatever the process's is.
class ScopedLogLevel {
 public:
  explicit ScopedLogLevel(LogLevel level);
  ~ScopedLogLevel();
  ScopedLogLevel(const ScopedLogLevel&) = delete;
  ScopedLogLevel& operator=(const ScopedLogLevel&) = delete;

 private:
  int before_;
};

inline bool log_enabled(LogLevel level) { return level >= log_level(); }
void log_message(LogLevel level, std::string_view message);

template <typename... Args>
void log(LogLevel level, fmt::format_string<Args...> format, Args&&... args) {
  if (log_enabled(level)) log_message(level, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace tenon
