#include "base/cpu_seats.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace tenon {
namespace {

cpu_set_t usable() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  return set;
}

cpu_set_t only(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  return set;
}

TEST(CpuSeats, AThreadLeavesTheCpuOfAnotherAndMayStillUseAllOfThem) {
  std::thread([] {
    const cpu_set_t all = usable();
    if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one CPU";
    CpuSeats seats;
    const int here = sched_getcpu();
    const cpu_set_t pinned = only(here);
    sched_setaffinity(0, sizeof pinned, &pinned);
    seats.sit(0);
    sched_setaffinity(0, sizeof all, &all);
    seats.sit_apart(1);
    EXPECT_NE(sched_getcpu(), here);
    const cpu_set_t after = usable();
    EXPECT_TRUE(CPU_EQUAL(&after, &all));
  }).join();
}

TEST(CpuSeats, AThreadWithOneCpuStays) {
  std::thread([] {
    CpuSeats seats;
    const cpu_set_t pinned = only(sched_getcpu());
    sched_setaffinity(0, sizeof pinned, &pinned);
    seats.sit(0);
    seats.sit_apart(1);
    const cpu_set_t after = usable();
    EXPECT_TRUE(CPU_EQUAL(&after, &pinned));
  }).join();
}

TEST(CpuSeats, ASeatThatNobodyTookIsFree) {
  CpuSeats seats;
  const cpu_set_t all = usable();
  seats.sit_apart(CpuSeats::kMost - 1);
  const cpu_set_t after = usable();
  EXPECT_TRUE(CPU_EQUAL(&after, &all));
}

}  // namespace
}  // namespace tenon
