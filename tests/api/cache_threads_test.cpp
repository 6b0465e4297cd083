// The caches from many threads. The device that computes nothing compiles no machine code, so that
// ThreadSanitizer sees all of it.
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <set>
#include <thread>

#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr int kThreads = 32;

Graph model(int64_t rows) {
  Graph g;
  const Value x = g.input("x", {{rows}, DType::F32}, {.bucket_axis = 0});
  g.set_outputs({{"y", g.relu(x)}});
  return g;
}

// Calls work(i) on thread i of all, at the same time.
template <typename Work>
void on_threads(const Work& work) {
  std::latch begin(kThreads);
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      begin.arrive_and_wait();
      work(i);
    });
  }
}

TEST(CacheThreads, AllAskForOneNewKeyAndOneBuilds) {
  for (int round = 0; round < 5; ++round) {
    CompileCache cache(Device::Null(), 2);
    std::atomic<int> built = 0;
    std::vector<CompiledHandle> got(kThreads);
    on_threads([&](int i) {
      got[static_cast<size_t>(i)] = cache.get_or_compile(1, [&] {
        ++built;
        return model(8);
      });
    });
    EXPECT_EQ(built, 1);
    EXPECT_EQ(std::set(got.begin(), got.end()).size(), 1u);
  }
}

TEST(CacheThreads, AllAskForOneBucketAndOneBuilds) {
  BucketedCompileCache cache(Device::Null(), {{1, 9}, {9, 17}});
  std::atomic<int> built = 0;
  on_threads([&](int i) {
    const auto found = cache.get_or_compile(1 + i % 16, [&](int64_t upper) {
      ++built;
      return model(upper);
    });
    EXPECT_EQ(found->upper, i % 16 < 8 ? 8 : 16);
  });
  EXPECT_EQ(built, 2);
  EXPECT_EQ(cache.compiled_count(), 2u);
}

// y = relu(x), x [batch]
HirModule symbolic() {
  HirModule m;
  m.set_outputs({{"y", m.op1("relu", {m.input("x", {{sym::batch()}, DType::F32})})}});
  return m;
}

TEST(CacheThreads, AllAskForOneTemplateAndOneBuilds) {
  for (int round = 0; round < 5; ++round) {
    DynamicDimCompileCache cache(Device::Null(), kThreads);
    std::atomic<int> built = 0;
    std::vector<CompiledHandle> got(kThreads);
    on_threads([&](int i) {
      const int64_t batch = 1 + i % 4;
      got[static_cast<size_t>(i)] =
          cache.get_or_specialize(static_cast<uint64_t>(batch), {{"batch", batch}}, [&] {
            ++built;
            return symbolic();
          });
    });
    EXPECT_EQ(built, 1);
    EXPECT_EQ(std::set(got.begin(), got.end()).size(), 4u);  // an entry for each key
    EXPECT_EQ(cache.len(), 4u);
  }
}

TEST(CacheThreads, AllAskForOneComponentAndOneBuilds) {
  for (const CompileMode mode : {CompileMode::Jit, CompileMode::Lazy}) {
    ModelCompilePipeline pipeline(Device::Null());
    std::atomic<int> built = 0;
    std::vector<CompiledHandle> got(kThreads);
    const auto build = [&] {
      ++built;
      HirModule m;
      const HirValue x = m.input("x", {{sym::batch(), sym::seq()}, DType::F32});
      m.set_outputs({{"y", m.op1("relu", {x})}});
      return m;
    };
    on_threads([&](int i) {
      const ModelComponent component{
          .variant = {.batch = 2, .seq = 3},
          .dispatch = i % 2 ? DispatchPolicy::ForceCommon : DispatchPolicy::PreferNative,
          .mode = mode};
      got[static_cast<size_t>(i)] =
          pipeline.get_or_compile_component(component, build).handle.get();
    });
    EXPECT_EQ(built, 1);
    EXPECT_EQ(std::set(got.begin(), got.end()).size(), 2u);  // one for each policy
    EXPECT_EQ(pipeline.len(), 2u);
  }
}

TEST(CacheThreads, OneLazyHandleOnAllThreadsIsCompiledOnce) {
  ModelCompilePipeline pipeline(Device::Null());
  pipeline.build_template([] {
    HirModule m;
    const HirValue x = m.input("x", {{sym::batch(), sym::seq()}, DType::F32});
    m.set_outputs({{"y", m.op1("relu", {x})}});
    return m;
  });
  const ComponentHandle handle =
      pipeline
          .get_or_compile_component({.variant = {.batch = 2, .seq = 3}, .mode = CompileMode::Lazy})
          .handle;
  std::vector<CompiledHandle> got(kThreads);
  on_threads([&](int i) { got[static_cast<size_t>(i)] = handle.get(); });
  EXPECT_EQ(std::set(got.begin(), got.end()).size(), 1u);
  EXPECT_EQ(pipeline.len(), 1u);
}

// Each thread runs graphs of keys that no other has, which come and go.
TEST(CacheThreads, WhatIsUsedIsEvictedAndWaitedForWithoutAnError) {
  CompileCache cache(Device::Null(), 3);
  const std::vector<float> x(8, 1);
  std::atomic<int> runs = 0;
  on_threads([&](int i) {
    for (uint64_t key = 0; key < 4; ++key) {
      const CompiledHandle graph =
          cache.get_or_compile(static_cast<uint64_t>(i) * 4 + key, [] { return model(8); });
      for (int run = 0; run < 20; ++run) {
        graph->run({{"x", x}});
        ++runs;
        cache.sync_all();  // which waits for those of others, too
      }
    }
  });
  EXPECT_EQ(runs, kThreads * 4 * 20);
  EXPECT_EQ(cache.len(), 3u);
}

TEST(CacheThreads, RunsInOneBucketWaitForEachOther) {
  BucketedCompileCache cache(Device::Null(), {{1, 9}});
  on_threads([&](int i) {
    const int64_t rows = 1 + i % 8;
    const std::vector<float> x(static_cast<size_t>(rows), 1);
    for (int run = 0; run < 20; ++run) {
      EXPECT_EQ(cache.run_padded(rows, rows, model, {{"x", x, 1}}, {1})->outputs[0].size(),
                x.size());
      cache.sync_all();
    }
  });
  EXPECT_EQ(cache.compiled_count(), 1u);
}

}  // namespace
}  // namespace tenon
