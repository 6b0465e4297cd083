// The thread pool under stress: every item exactly once, worker indices that never meet, many
// callers, nesting, fork. These tests run under ThreadSanitizer too.
#include "base/thread_pool.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <ctime>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/count_allocations.h"
#include "tests/sanitizers.h"

namespace tenon {
namespace {

int thread_count() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind("Threads:", 0) == 0) return std::stoi(line.substr(8));
  }
  return -1;
}

// ThreadSanitizer starts a thread of its own along with the first one of the program.
#if TENON_THREAD_SANITIZER
constexpr int kSanitizerThreads = 1;
#else
constexpr int kSanitizerThreads = 0;
#endif

TEST(ThreadPool, StartsNoThreadBeforeTheFirstParallelRun) {
  const int before = thread_count();
  const auto pool = make_worker_pool({.max_threads = 4});
  pool->parallel_for(100, 1, [](int64_t, int64_t, int) {});
  pool->parallel_for(1, 4, [](int64_t, int64_t, int) {});
  EXPECT_EQ(thread_count(), before);
  pool->parallel_for(100, 4, [](int64_t, int64_t, int) {});
  EXPECT_EQ(thread_count(), before + 3 + kSanitizerThreads);
}

TEST(ThreadPool, RunsEveryItemExactlyOnce) {
  const auto pool = make_worker_pool({.max_threads = 4});
  for (const int64_t count : {0, 1, 2, 3, 7, 64, 1000, 12345}) {
    for (const int threads : {0, 1, 2, 3, 4, 8}) {
      std::vector<std::atomic<int>> seen(static_cast<size_t>(count));
      pool->parallel_for(count, threads, [&](int64_t begin, int64_t end, int) {
        for (int64_t i = begin; i < end; ++i) seen[static_cast<size_t>(i)].fetch_add(1);
      });
      for (const auto& times : seen) ASSERT_EQ(times.load(), 1) << count << " on " << threads;
    }
  }
}

TEST(ThreadPool, NoTwoRunningChunksOfACallShareAWorkerIndex) {
  const auto pool = make_worker_pool({.max_threads = 4});
  for (int round = 0; round < 2000; ++round) {
    const int threads = 2 + round % 3;
    int plain_scratch[4] = {};  // not atomic: ThreadSanitizer sees any sharing
    pool->parallel_for(32, threads, [&](int64_t begin, int64_t end, int worker) {
      ASSERT_GE(worker, 0);
      ASSERT_LT(worker, threads);
      plain_scratch[worker] += static_cast<int>(end - begin);
    });
    ASSERT_EQ(plain_scratch[0] + plain_scratch[1] + plain_scratch[2] + plain_scratch[3], 32);
  }
}

TEST(ThreadPool, WhatBodiesWriteIsSeenByTheCaller) {
  const auto pool = make_worker_pool({.max_threads = 4});
  std::vector<int64_t> values(1000);
  for (int64_t round = 0; round < 500; ++round) {
    pool->parallel_for(1000, 4, [&](int64_t begin, int64_t end, int) {
      for (int64_t i = begin; i < end; ++i) values[static_cast<size_t>(i)] = round * i;
    });
    for (int64_t i = 0; i < 1000; ++i) ASSERT_EQ(values[static_cast<size_t>(i)], round * i);
  }
}

TEST(ThreadPool, ManyCallersAtOnceAllGetTheirWorkDone) {
  const auto pool = make_worker_pool({.max_threads = 3});
  std::vector<std::thread> callers;
  std::atomic<int64_t> total{0};
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int round = 0; round < 500; ++round) {
        pool->parallel_for(20, 3, [&](int64_t begin, int64_t end, int) { total += end - begin; });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(total.load(), 4 * 500 * 20);
}

TEST(ThreadPool, ANestedCallRunsInlineAsWorkerZero) {
  const auto pool = make_worker_pool({.max_threads = 4});
  std::atomic<int64_t> total{0};
  pool->parallel_for(8, 4, [&](int64_t begin, int64_t end, int) {
    const auto self = std::this_thread::get_id();
    for (int64_t i = begin; i < end; ++i) {
      pool->parallel_for(10, 4, [&](int64_t b, int64_t e, int worker) {
        ASSERT_EQ(worker, 0);
        ASSERT_EQ(std::this_thread::get_id(), self);
        total += e - b;
      });
    }
  });
  EXPECT_EQ(total.load(), 80);
}

TEST(ThreadPool, AllocatesNothingPerCall) {
#if !TENON_COUNTS_ALLOCATIONS
  GTEST_SKIP() << "sanitizers bring their own malloc";
#endif
  const auto pool = make_worker_pool({.max_threads = 3});
  std::atomic<int64_t> total{0};
  const auto body = [&](int64_t begin, int64_t end, int) { total += end - begin; };
  pool->parallel_for(100, 3, body);
  counting = true;
  for (int round = 0; round < 100; ++round) pool->parallel_for(100, 3, body);
  counting = false;
  EXPECT_EQ(allocations.load(), 0);
}

TEST(ThreadPool, WorkersSleepSoonAfterARun) {
  const auto pool = make_worker_pool({.max_threads = 4, .spin_microseconds = 50});
  pool->parallel_for(100, 4, [](int64_t, int64_t, int) {});
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::clock_t before = std::clock();  // CPU time of all threads
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(static_cast<double>(std::clock() - before) / CLOCKS_PER_SEC, 0.05);
}

TEST(ThreadPool, AHostMayPutItsOwnInPlace) {
  struct Inline : ThreadPool {
    int calls = 0;
    int max_threads() const override { return 1; }
    void parallel_for(int64_t count, int, ParallelBody body) override {
      ++calls;
      body(0, count, 0);
    }
  } host;
  set_thread_pool(&host);
  parallel_for(5, 4, [](int64_t, int64_t, int) {});
  EXPECT_EQ(host.calls, 1);
  set_thread_pool(nullptr);
  EXPECT_NE(&thread_pool(), &host);
}

#if !TENON_THREAD_SANITIZER  // ThreadSanitizer does not support threads in a forked child
TEST(ThreadPool, AForkedChildStartsItsOwnThreads) {
  std::atomic<int64_t> total{0};
  const auto body = [&](int64_t begin, int64_t end, int) { total += end - begin; };
  parallel_for(100, 3, body);
  const pid_t child = fork();
  if (child == 0) {
    total = 0;
    parallel_for(100, 3, body);
    _exit(total == 100 && thread_count() == 3 ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  shut_down_thread_pool();
}
#endif

}  // namespace
}  // namespace tenon
