// See memory.h.
#include "tools/tenon/memory.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "base/error.h"

namespace tenon::cli {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

// What can be had without the memory of others, and swap.
int64_t system_memory() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  int64_t kib = 0, sum = 0;
  while (file >> name >> kib && std::getline(file, unit)) {
    if (name == "MemAvailable:" || name == "SwapFree:") sum += kib * 1024;
  }
  return sum > 0 ? sum : kNoLimit;
}

// As a container sees its own group: v2, then v1. "max" is no number and no limit.
int64_t container_limit() {
  int64_t least = kNoLimit, bytes = 0;
  for (const char* path :
       {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    if (std::ifstream(path) >> bytes) least = std::min(least, bytes);
  }
  return least;
}

int64_t address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return kNoLimit;
  return static_cast<int64_t>(limit.rlim_cur);
}

double gib(double bytes) { return bytes / (1 << 30); }

}  // namespace

int64_t available_memory() {
  return std::min({system_memory(), container_limit(), address_space()});
}

void check_memory(std::span<const MemoryUse> uses, const std::string& extents) {
  double total = 0;  // the sum may be beyond 64 bits; a rounded one will do
  for (const MemoryUse& use : uses) total += static_cast<double>(use.bytes);
  const auto available = static_cast<double>(available_memory());
  if (total <= available) return;
  const MemoryUse& largest =
      *std::max_element(uses.begin(), uses.end(),
                        [](const MemoryUse& a, const MemoryUse& b) { return a.bytes < b.bytes; });
  throw user_error(
      "out of memory: [{}] needs {:.1f} GiB, {:.1f} can be had; {} alone takes {} bytes", extents,
      gib(total), gib(available), largest.what, largest.bytes);
}

}  // namespace tenon::cli
