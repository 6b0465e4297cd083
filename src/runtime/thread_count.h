// How many threads work is worth: the one place where that rule stands.
#pragma once

#include <cstdint>

namespace tenon::runtime {

// Waking and joining a worker costs a few microseconds, so each thread must have
// kMicrosecondsPerThread of work (by the estimate of program/work.h); less than twice that runs on
// one.
inline constexpr double kMicrosecondsPerThread = 15;

// `pieces`: into how many the work can be cut.
constexpr int thread_count(double microseconds, int64_t pieces, int most) {
  const double worth = microseconds / kMicrosecondsPerThread;
  int64_t threads = worth < most ? static_cast<int64_t>(worth) : most;
  if (threads > pieces) threads = pieces;
  return threads < 1 ? 1 : static_cast<int>(threads);
}

}  // namespace tenon::runtime
