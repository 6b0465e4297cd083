// Clones of an executor run at the same time on shared code and weights: y = 2 x + w, by hand.
// Under ThreadSanitizer this is where sharing shows.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "runtime/cpu/cpu_stream.h"
#include "runtime/executor.h"
#include "tests/runtime/test_program.h"

namespace tenon::runtime {
namespace {

std::atomic<int> packs = 0;

void count_packs(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin,
                 int64_t end, int64_t* fault) {
  ++packs;
  pack_weight(buffers, dims, scratch, begin, end, fault);
}

class Clones : public ::testing::Test {
 protected:
  Clones() {
    packs = 0;
    auto loaded =
        Executor::with_functions(test_program(), *pool_, {double_rows, add_weight, count_packs});
    original_ = std::move(loaded.take());
    set_weight(*original_, 3);
  }

  static void set_weight(Executor& executor, float w) {
    const int64_t shape[] = {1};
    ASSERT_TRUE(executor.set_param("w", DType::F32, shape, &w).ok());
  }

  std::unique_ptr<Executor> clone(Executor& executor) {
    return executor.clone(std::make_shared<cpu::CpuStream>(*pool_)).take();
  }

  // How many elements are wrong.
  static int run(Executor& executor, int64_t batch, int64_t seq, float w) {
    std::vector<float> x(static_cast<size_t>(batch * seq)), y(x.size(), -1);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 11);
    const std::vector<int64_t> shape = {batch, seq};
    const IoView in[] = {{x.data(), DType::F32, shape, {}}};
    const IoView out[] = {{y.data(), DType::F32, shape, {}}};
    if (!executor.bind(in).ok() || !executor.execute(out).ok()) return 1;
    int wrong = 0;
    for (size_t i = 0; i < x.size(); ++i) wrong += y[i] != 2 * x[i] + w;
    return wrong;
  }

  std::unique_ptr<ThreadPool> pool_ = make_worker_pool({.max_threads = 2});
  std::unique_ptr<Executor> original_;
};

TEST_F(Clones, PackWeightsOnceForAll) {
  auto a = clone(*original_), b = clone(*a);
  for (Executor* each : {a.get(), original_.get(), b.get()}) EXPECT_EQ(run(*each, 2, 3, 3), 0);
  EXPECT_EQ(packs, 1);
}

TEST_F(Clones, SeeOnlyTheirOwnValues) {
  EXPECT_EQ(run(*original_, 1, 4, 3), 0);
  auto a = clone(*original_), b = clone(*original_);
  set_weight(*a, 10);
  EXPECT_EQ(run(*a, 1, 4, 10), 0);
  EXPECT_EQ(run(*b, 1, 4, 3), 0);
  set_weight(*original_, 20);
  set_weight(*a, 11);
  EXPECT_EQ(run(*original_, 1, 4, 20), 0);
  EXPECT_EQ(run(*a, 1, 4, 11), 0);
  EXPECT_EQ(run(*b, 1, 4, 3), 0);
  auto of_a = clone(*a);
  a.reset();
  original_.reset();
  EXPECT_EQ(run(*of_a, 1, 4, 11), 0);
  EXPECT_EQ(run(*b, 1, 4, 3), 0);
}

TEST_F(Clones, OfUnsetParametersSetTheirOwn) {
  auto loaded = Executor::with_functions(test_program(), *pool_, test_functions());
  auto unset = clone(*loaded.value());
  EXPECT_EQ(run(*unset, 1, 1, 0), 1);  // an error
  set_weight(*unset, 5);
  EXPECT_EQ(run(*unset, 1, 1, 5), 0);
  EXPECT_EQ(run(*loaded.value(), 1, 1, 5), 1);
}

TEST_F(Clones, RunAtTheSameTime) {
  constexpr int kThreads = 8, kRuns = 1250;  // 10,000 in all
  std::vector<std::unique_ptr<Executor>> clones;
  for (int i = 0; i < kThreads; ++i) clones.push_back(clone(*original_));
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        Executor& mine = *clones[static_cast<size_t>(i)];
        float w = 3;
        for (int each = 0; each < kRuns; ++each) {
          if (i % 2 == 1 && each % 100 == 99) set_weight(mine, w = static_cast<float>(each + i));
          wrong += run(mine, 1 + (each + i) % 5, 1 + each * 7 % 40, w);
        }
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(run(*original_, 2, 2, 3), 0);
}

}  // namespace
}  // namespace tenon::runtime
