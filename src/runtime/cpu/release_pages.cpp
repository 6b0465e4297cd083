// See release_pages.h. /proc/self/maps tells a read-only file mapping from everything else; only
// whole pages go.
#include "runtime/cpu/release_pages.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>

namespace tenon::runtime::cpu {
namespace {

struct Mapping {
  uintptr_t begin, end;
};

// Ascending, as the kernel lists them.
std::vector<Mapping> read_only_files() {
  std::vector<Mapping> mappings;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                       &std::fclose);
  if (!maps) return mappings;
  char line[4608];
  while (std::fgets(line, sizeof(line), maps.get())) {
    unsigned long begin = 0, end = 0, inode = 0;  // NOLINT(google-runtime-int): what sscanf takes
    char permissions[8] = {};
    if (std::sscanf(line, "%lx-%lx %7s %*x %*s %lu", &begin, &end, permissions, &inode) != 4)
      continue;
    if (inode != 0 && permissions[1] == '-') mappings.push_back({begin, end});
  }
  return mappings;
}

}  // namespace

void release_file_pages(std::span<const std::span<const std::byte>> ranges) {
  constexpr uintptr_t kPageMask = 4095;
  const std::vector<Mapping> mappings = read_only_files();
  for (const auto& range : ranges) {
    const auto first = reinterpret_cast<uintptr_t>(range.data());
    const uintptr_t begin = (first + kPageMask) & ~kPageMask;
    const uintptr_t end = (first + range.size()) & ~kPageMask;
    const auto found =
        std::upper_bound(mappings.begin(), mappings.end(), begin,
                         [](uintptr_t address, const Mapping& m) { return address < m.end; });
    if (begin >= end || found == mappings.end() || begin < found->begin || end > found->end)
      continue;
    madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
}

}  // namespace tenon::runtime::cpu
