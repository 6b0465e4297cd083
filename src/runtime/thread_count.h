// How many threads a step is worth: the one place where that rule stands.
#pragma once

#include <cstdint>

namespace tenon::runtime {

// Waking and joining a worker costs a few microseconds, so each thread must have
// kMicrosecondsPerThread of work by the estimate below; a step of less than twice that runs on one.
inline constexpr double kMicrosecondsPerThread = 15;
inline constexpr double kFlopsPerMicrosecond =
    50e3;  // of one core; low on purpose: small kernels are not at peak
inline constexpr double kBytesPerMicrosecond = 20e3;  // of one core, from beyond its L2

constexpr int thread_count(int64_t flops, int64_t bytes, int64_t grid, int most) {
  const double compute = static_cast<double>(flops) / kFlopsPerMicrosecond;
  const double memory = static_cast<double>(bytes) / kBytesPerMicrosecond;
  const double worth = (compute > memory ? compute : memory) / kMicrosecondsPerThread;
  int64_t threads = worth < most ? static_cast<int64_t>(worth) : most;
  if (threads > grid) threads = grid;
  return threads < 1 ? 1 : static_cast<int>(threads);
}

}  // namespace tenon::runtime
