#include "runtime/cpu/perf_map.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <string>

#include "base/knobs.h"

namespace tenon::runtime::cpu {

void add_to_perf_map(std::string_view name, const void* code, size_t bytes) {
  if (knobs().perf_map != "1") return;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  std::FILE* file = std::fopen(fmt::format("/tmp/perf-{}.map", getpid()).c_str(), "ae");
  if (!file) return;
  const std::string line =
      fmt::format("{:x} {:x} tenon:{}\n", reinterpret_cast<uintptr_t>(code), bytes, name);
  std::fwrite(line.data(), 1, line.size(), file);
  std::fclose(file);
}

}  // namespace tenon::runtime::cpu
