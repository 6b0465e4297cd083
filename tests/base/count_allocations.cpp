// Replaces the global allocator with one that counts, to show that hot paths allocate nothing. In a
// file of its own so that no compiler inlines half of a new/delete pair.
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace tenon {
std::atomic<int64_t> g_allocations{0};
}  // namespace tenon

void* operator new(size_t size) {
  tenon::g_allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
