// See memory_block.h. All but small blocks start at a 2 MB boundary and ask for huge pages: fewer
// TLB misses, and no two pages of a block that fight for the same sets of a cache.
#include "runtime/memory_block.h"

#include <sys/mman.h>

#include <utility>

namespace tenon::runtime {
namespace {

constexpr int64_t kPage = 4096;
constexpr int64_t kHugePage = int64_t{2} << 20;
constexpr int64_t kHugeFrom = int64_t{128} << 10;  // more than the first-level TLB reaches well
constexpr int64_t kMost =
    int64_t{1} << 46;  // more than any address space has: a size that was computed wrongly

}  // namespace

Status MemoryBlock::reserve(int64_t bytes, const char* purpose) {
  if (bytes <= size_) return {};
  if (bytes > kMost)
    return user_error("{} bytes for {} are more than any machine has", bytes, purpose);
  const bool huge = bytes >= kHugeFrom;
  const int64_t unit = huge ? kHugePage : kPage;
  const int64_t size = (bytes + unit - 1) / unit * unit;
  const size_t mapped = static_cast<size_t>(size + (huge ? kHugePage : 0));
  release();
  void* mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) return user_error("out of memory: {} bytes for {}", bytes, purpose);
  mapping_ = mapping;
  mapping_bytes_ = mapped;
  const auto address = reinterpret_cast<uintptr_t>(mapping);
  const auto mask = static_cast<uintptr_t>(unit) - 1;
  data_ = reinterpret_cast<std::byte*>((address + mask) & ~mask);
  size_ = size;
  if (huge)
    madvise(data_, static_cast<size_t>(size),
            MADV_HUGEPAGE);  // a wish: nothing is lost where it is refused
  return {};
}

void MemoryBlock::swap(MemoryBlock& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  std::swap(mapping_, other.mapping_);
  std::swap(mapping_bytes_, other.mapping_bytes_);
}

void MemoryBlock::release() noexcept {
  if (mapping_) munmap(mapping_, mapping_bytes_);
  data_ = nullptr;
  size_ = 0;
  mapping_ = nullptr;
  mapping_bytes_ = 0;
}

}  // namespace tenon::runtime
