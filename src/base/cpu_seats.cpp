// See cpu_seats.h.
#include "base/cpu_seats.h"

#include <sched.h>

namespace tenon {
namespace {

// CPU numbers past what a cpu_set_t holds are not looked at.
int16_t current_cpu() {
  const int cpu = sched_getcpu();
  return static_cast<int16_t>(cpu >= 0 && cpu < CPU_SETSIZE ? cpu : -1);
}

}  // namespace

CpuSeats::CpuSeats() {
  for (auto& cpu : cpus_) cpu.store(-1, std::memory_order_relaxed);
}

void CpuSeats::sit(int index) {
  cpus_[static_cast<size_t>(index)].store(current_cpu(), std::memory_order_relaxed);
}

void CpuSeats::sit_apart(int index) {
  if (is_taken(current_cpu(), index)) move(index);
  sit(index);
}

bool CpuSeats::is_taken(int cpu, int index) const {
  for (int other = 0; cpu >= 0 && other < index; ++other) {
    if (cpus_[static_cast<size_t>(other)].load(std::memory_order_relaxed) == cpu) return true;
  }
  return false;
}

// What may not be used for a moment is left at once.
void CpuSeats::move(int index) {
  cpu_set_t usable;
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  cpu_set_t free = usable;
  for (int other = 0; other < index; ++other) {
    const int cpu = cpus_[static_cast<size_t>(other)].load(std::memory_order_relaxed);
    if (cpu >= 0) CPU_CLR(cpu, &free);
  }
  if (CPU_COUNT(&free) == 0 || sched_setaffinity(0, sizeof free, &free) != 0) return;
  sched_setaffinity(0, sizeof usable, &usable);
}

}  // namespace tenon
