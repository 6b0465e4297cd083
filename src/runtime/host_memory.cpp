// Memory of the host. All but small blocks start at a 2 MB boundary and ask for huge pages: fewer
// TLB misses, and no two pages of a block that fight for the same sets of a cache.
#include <sys/mman.h>

#include "runtime/memory.h"

namespace tenon::runtime {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kHugeFrom = int64_t{128} << 10;  // more than the first-level TLB reaches well

class HostMemory : public Memory {
 public:
  Result<Allocation> allocate(int64_t bytes, const char* purpose) override {
    const bool huge = bytes >= kHugeFrom;
    const int64_t unit = huge ? kHugePage : kPage;
    const int64_t size = (bytes + unit - 1) / unit * unit;
    const size_t mapped = static_cast<size_t>(size + (huge ? kHugePage : 0));
    void* mapping =
        mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) return user_error("out of memory: {} bytes for {}", bytes, purpose);
    const auto address = reinterpret_cast<uintptr_t>(mapping);
    const auto mask = static_cast<uintptr_t>(unit) - 1;
    auto* data = reinterpret_cast<std::byte*>((address + mask) & ~mask);
    if (huge)
      madvise(data, static_cast<size_t>(size),
              MADV_HUGEPAGE);  // a wish: nothing is lost where it is refused
    return Allocation{data, size, mapping, mapped};
  }

  void release(const Allocation& allocation) noexcept override {
    munmap(allocation.mapping, allocation.mapping_bytes);
  }
};

}  // namespace

Memory& host_memory() {
  static HostMemory memory;
  return memory;
}

}  // namespace tenon::runtime
