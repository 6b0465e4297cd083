// How many threads this process may really use: the scheduler's affinity mask and the cgroups' CPU
// quota, which a container sets and std::thread::hardware_concurrency does not know.
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/cpu_info.h"

namespace tenon {
namespace {

std::optional<double> ratio(double quota, double period) {
  if (quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

std::optional<double> read_number(const std::string& path) {
  std::ifstream file(path);
  double value = 0;
  if (!(file >> value)) return std::nullopt;
  return value;
}

// v2: one file, "QUOTA PERIOD" or "max PERIOD".
std::optional<double> quota_v2(const std::string& dir) {
  std::ifstream file(dir + "/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max") return std::nullopt;
  return ratio(std::strtod(quota.c_str(), nullptr), period);
}

// v1: two files; a quota of -1 is none.
std::optional<double> quota_v1(const std::string& dir) {
  const auto quota = read_number(dir + "/cpu.cfs_quota_us");
  const auto period = read_number(dir + "/cpu.cfs_period_us");
  if (!quota || !period) return std::nullopt;
  return ratio(*quota, *period);
}

void keep_smaller(std::optional<double>& best, std::optional<double> other) {
  if (other && (!best || *other < *best)) best = other;
}

// A group is limited by itself and by every group above it.
template <typename ReadQuota>
std::optional<double> smallest_up_to_root(const std::string& mount, std::string group,
                                          ReadQuota read_quota) {
  std::optional<double> best;
  for (;;) {
    if (group == "/") group.clear();
    keep_smaller(best, read_quota(mount + group));
    const size_t slash = group.rfind('/');
    if (slash == std::string::npos) return best;
    group.resize(slash);
  }
}

bool lists_cpu(const std::string& controllers) {
  std::istringstream in(controllers);
  for (std::string name; std::getline(in, name, ',');) {
    if (name == "cpu") return true;
  }
  return false;
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const std::string& root) {
  std::optional<double> best;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {  // ID:CONTROLLERS:GROUP
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const std::string group = line.substr(second + 1);
    const std::string mount = root + "/sys/fs/cgroup";
    if (controllers.empty()) {
      keep_smaller(best, smallest_up_to_root(mount, group, quota_v2));
    } else if (lists_cpu(controllers)) {
      keep_smaller(best, smallest_up_to_root(mount + "/cpu", group, quota_v1));
      keep_smaller(best, smallest_up_to_root(mount + "/" + controllers, group, quota_v1));
    }
  }
  return best;
}

int affinity_threads() {
#if defined(__linux__)
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(CPU_COUNT(&set), 1);
#endif
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

int usable_threads() {
  const int threads = affinity_threads();
  const auto quota = cgroup_cpu_quota();
  if (!quota || *quota >= threads) return threads;
  return std::max(static_cast<int>(std::ceil(*quota)), 1);
}

}  // namespace tenon
