// On which CPUs the threads of a job run. A scheduler likes to wake a thread where its waker runs,
// and leaves both there for as long as they are hardly ever seen waiting: work that should take
// half the time takes all of it. A thread that finds itself where another of its job is moves over.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace tenon {

class CpuSeats {
 public:
  static constexpr int kMost = 256;  // threads of a job

  CpuSeats();

  // The calling thread is the job's thread `index`: where it runs is taken.
  void sit(int index);
  // The same; but if a thread before it sits there, the calling thread goes to a CPU that it may
  // use and none of those has, where there is one. The CPUs that it may use stay as they were.
  void sit_apart(int index);

 private:
  bool is_taken(int cpu, int index) const;
  void move(int index);

  std::array<std::atomic<int16_t>, kMost> cpus_;  // by thread; -1: not known
};

}  // namespace tenon
