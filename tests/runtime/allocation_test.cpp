// After the first run of a shape nothing is allocated, by any thread: malloc, operator new and mmap
// are counted for the whole process while known shapes run in turn.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

#include "runtime/executor.h"
#include "tests/runtime/test_program.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TENON_COUNTS_ALLOCATIONS 0  // sanitizers bring their own malloc
#else
#define TENON_COUNTS_ALLOCATIONS 1
#endif

namespace {
std::atomic<bool> counting = false;
std::atomic<int> allocations = 0;

void count() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1);
}
}  // namespace

#if TENON_COUNTS_ALLOCATIONS
// operator new ends up in malloc too. The __libc functions are glibc's own names of what is
// replaced here.
extern "C" {
void* __libc_malloc(size_t bytes);                      // NOLINT
void* __libc_calloc(size_t count, size_t bytes);        // NOLINT
void* __libc_realloc(void* old, size_t bytes);          // NOLINT
void* __libc_memalign(size_t alignment, size_t bytes);  // NOLINT

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
void* mmap(void* address, size_t bytes, int protection, int flags, int file,
           off_t offset) noexcept {
  count();
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
}
#endif

namespace tenon::runtime {
namespace {

struct Request {
  std::vector<int64_t> shape;
  std::vector<float> x, y;
};

std::vector<Request> requests() {
  std::vector<Request> list;
  for (int64_t i = 1; i <= 64; ++i) {
    const auto elements = static_cast<size_t>(i * (i * 8 % 97 + 1));
    list.push_back(
        {{i, i * 8 % 97 + 1}, std::vector<float>(elements, 1), std::vector<float>(elements)});
  }
  return list;
}

void serve(Executor& executor, Request& request) {
  const IoView in[] = {{request.x.data(), DType::F32, request.shape, {}}};
  const IoView out[] = {{request.y.data(), DType::F32, request.shape, {}}};
  ASSERT_TRUE(executor.bind(in).ok());
  ASSERT_TRUE(executor.execute(out).ok());
  ASSERT_EQ(request.y.back(), 5);
}

TEST(Allocation, NothingIsAllocatedAfterTheFirstRunOfAShape) {
#if !TENON_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "sanitizers bring their own malloc";
#endif
  const std::unique_ptr<ThreadPool> pool = make_worker_pool({.max_threads = 2});
  auto loaded = Executor::with_functions(test_program(512, 100000), *pool, test_functions());
  ASSERT_TRUE(loaded.ok());
  Executor& executor = *loaded.value();
  const float w = 3;
  const int64_t one[] = {1};
  ASSERT_TRUE(executor.set_param("w", DType::F32, one, &w).ok());
  std::vector<Request> list = requests();
  for (Request& request : list) serve(executor, request);

  counting = true;
  for (int round = 0; round < 3; ++round) {
    for (Request& request : list) serve(executor, request);
  }
  counting = false;
  EXPECT_EQ(allocations.load(), 0);

  counting = true;  // the counter does count
  std::vector<float> something(1000);
  counting = false;
  EXPECT_GT(allocations.load(), 0);
}

}  // namespace
}  // namespace tenon::runtime
