// After the first run of a shape nothing is allocated, by any thread: malloc, operator new and mmap
// are counted for the whole process while known shapes run in turn.
#include <gtest/gtest.h>

#include "runtime/executor.h"
#include "tests/count_allocations.h"
#include "tests/runtime/test_program.h"

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
