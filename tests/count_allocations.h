// Counts every allocation of the process, by any thread, while `counting` is set: malloc and its
// kin, operator new (which ends in malloc) and mmap are replaced. Include it in one file of a test
// program only.
#pragma once

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>

#include "tests/sanitizers.h"

#if TENON_ADDRESS_SANITIZER || TENON_THREAD_SANITIZER
#define TENON_COUNTS_ALLOCATIONS 0  // sanitizers bring their own malloc
#else
#define TENON_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<bool> counting = false;
std::atomic<int> allocations = 0;

[[maybe_unused]] void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
}
}  // namespace

#if TENON_COUNTS_ALLOCATIONS
// The __libc functions are glibc's own names of what is
// replaced here.
// NOLINTBEGIN(misc-definitions-in-headers,bugprone-reserved-identifier,readability-identifier-naming)
extern "C" {
void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* old, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  count();
  return __libc_malloc(bytes);
}
void* calloc(size_t items, size_t bytes) {
  count();
  return __libc_calloc(items, bytes);
}
void* realloc(void* old, size_t bytes) {
  count();
  return __libc_realloc(old, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  count();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, size_t alignment, size_t bytes) noexcept {
  count();
  *memory = __libc_memalign(alignment, bytes);
  return *memory ? 0 : ENOMEM;
}
void* mmap(void* address, size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  count();
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
}
// NOLINTEND(misc-definitions-in-headers,bugprone-reserved-identifier,readability-identifier-naming)
#endif
