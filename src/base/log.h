// How the parts of Tenon log: see tenon/log.h. A message below the level costs one relaxed load and
// is not formatted.
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "tenon/log.h"

namespace tenon {

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
