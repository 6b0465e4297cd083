// What Tenon says while it works: messages with a level, one line or more each, to one sink that
// the host may replace. Libraries say what went wrong by Errors, not here: the log is for people
// who want to see inside.
//
//   tenon::set_log_level(tenon::LogLevel::Info);  // or TENON_LOG=info
//   tenon::set_log_sink([](tenon::LogLevel, std::string_view message) { my_log(message); });
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace tenon {

enum class LogLevel : uint8_t {
  Debug,    // every pass with its time, the reports, and a line for each run
  Info,     // a line for each compile and each load
  Warning,  // what was worked around: a damaged file of a cache
  Error,
  Off,
};
std::string_view to_string(LogLevel level);

// Called by one thread at a time; must neither throw nor use Tenon.
using LogSink = std::function<void(LogLevel level, std::string_view message)>;

// From now on messages go there; an empty sink restores stderr.
void set_log_sink(LogSink sink);
// The least severe messages that are logged, in this process.
void set_log_level(LogLevel level);
// At first what TENON_LOG says; a bad value there counts as `warning`.
LogLevel log_level();

}  // namespace tenon
