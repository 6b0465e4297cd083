// Threads that build, realize, prepare and execute tensors which share what they are made of: they
// never change each other's results, and what is new is compiled once. ThreadSanitizer runs this.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <functional>
#include <random>
#include <thread>

#include "lazy/schedule_cache.h"
#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"
#include "tests/sanitizers.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

constexpr size_t kWidth = 16;
constexpr int kRounds = TENON_THREAD_SANITIZER ? 6 : 40;

// Tensors made of each other, each with the numbers that it must have. All are small integers.
struct Shared {
  struct Node {
    Tensor tensor;
    Floats expected;
  };

  explicit Shared(float first) {
    Floats data(kWidth);
    for (size_t i = 0; i < kWidth; ++i) data[i] = first + static_cast<float>(i % 5);
    add(Tensor::from(data), [&](size_t i) { return data[i]; });
    add(at(0) + 1.0, [&](size_t i) { return value(0, i) + 1; });
    add(at(1) * at(0), [&](size_t i) { return value(1, i) * value(0, i); });
    add(at(2) - at(1), [&](size_t i) { return value(2, i) - value(1, i); });
    float sum = 0;
    for (size_t i = 0; i < kWidth; ++i) sum += value(2, i);
    add(at(3) + at(2).sum(), [&](size_t i) { return value(3, i) + sum; });
    add(at(4).maximum(at(2)), [&](size_t i) { return std::max(value(4, i), value(2, i)); });
  }

  std::vector<Node> nodes;

 private:
  const Tensor& at(size_t node) const { return nodes[node].tensor; }
  float value(size_t node, size_t i) const { return nodes[node].expected[i]; }
  void add(const Tensor& tensor, const std::function<float(size_t)>& element) {
    Floats expected(kWidth);
    for (size_t i = 0; i < kWidth; ++i) expected[i] = element(i);
    nodes.push_back({tensor, std::move(expected)});
  }
};

// One thing that a thread may do with them; true where the numbers are right.
using Act = bool (*)(const Shared& shared, size_t first, size_t second);

bool realize_one(const Shared& shared, size_t first, size_t) {
  const auto& [tensor, expected] = shared.nodes[first];
  return tensor.realize().as_vec<float>() == expected;
}

bool realize_two(const Shared& shared, size_t first, size_t second) {
  const auto &a = shared.nodes[first], &b = shared.nodes[second];
  realize_batch({a.tensor, b.tensor});
  return a.tensor.as_vec<float>() == a.expected && b.tensor.as_vec<float>() == b.expected;
}

bool realize_new(const Shared& shared, size_t first, size_t second) {
  const auto &a = shared.nodes[first], &b = shared.nodes[second];
  const Floats values = (a.tensor + b.tensor).realize().as_vec<float>();
  for (size_t i = 0; i < kWidth; ++i) {
    if (values[i] != a.expected[i] + b.expected[i]) return false;
  }
  return true;
}

bool execute(const Shared& shared, size_t first, size_t) {
  const auto& [tensor, expected] = shared.nodes[first];
  Tensor mine = tensor * 1.0;
  ExecutionPlan plan = mine.prepare();
  plan.execute();
  plan.execute();
  return mine.as_vec<float>() == expected;
}

bool execute_replica(const Shared& shared, size_t first, size_t) {
  const auto& [tensor, expected] = shared.nodes[first];
  Tensor mine = tensor * 1.0;
  ExecutionPlan plan = mine.prepare();
  ExecutionPlan replica = plan.replicate();
  bool right = false;
  std::jthread([&] {
    replica.execute();
    right = replica.output_buffer(0).as_vec<float>() == expected;
  }).join();
  plan.execute();
  return right && mine.as_vec<float>() == expected;
}

bool print(const Shared& shared, size_t first, size_t) {
  return shared.nodes[first].tensor.to_string().starts_with("Tensor(f32[16], ");
}

constexpr std::array<Act, 6> kActs = {realize_one, realize_two,     realize_new,
                                      execute,     execute_replica, print};

TEST(LazyThreads, NeverChangeEachOthersResults) {
  constexpr int kThreads = 8, kActsOfAThread = 6;
  std::atomic<int> wrong = 0;
  for (int round = 0; round < kRounds; ++round) {
    auto shared = std::make_shared<const Shared>(static_cast<float>(round % 7));
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&wrong, shared, seed = round * kThreads + thread] {
        std::minstd_rand random(static_cast<unsigned>(seed + 1));
        const auto pick = [&](size_t count) { return (random() >> 8) % count; };
        for (int i = 0; i < kActsOfAThread; ++i) {
          const Act act = kActs[pick(kActs.size())];
          const size_t first = pick(shared->nodes.size()), second = pick(shared->nodes.size());
          if (!act(*shared, first, second)) ++wrong;
        }
      });
    }
    shared.reset();  // whoever is last lets go of it
  }
  EXPECT_EQ(wrong, 0);
}

TEST(LazyThreads, CompileANewExpressionOnce) {
  constexpr int kThreads = 32;
  lazy::clear_schedule_cache();
  const int64_t before = lazy::schedule_cache_stats().compiled;
  std::barrier start(kThreads);
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        const auto x = static_cast<float>(thread);
        const Tensor y = (Tensor::from<float>({x, x + 1, x + 2}) * 3.0 + 11.0) - 7.0;
        start.arrive_and_wait();
        if (y.realize().as_vec<float>() != Floats{3 * x + 4, 3 * x + 7, 3 * x + 10}) ++wrong;
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(lazy::schedule_cache_stats().compiled, before + 1);
}

TEST(LazyThreads, ThatRealizeOneTensorReadTheSameMemory) {
  constexpr int kThreads = 8;
  for (int round = 0; round < kRounds; ++round) {
    const Tensor y = Tensor::from<float>({1, 2, 3}) + 4.0;
    std::barrier start(kThreads);
    std::array<const float*, kThreads> memory{};
    {
      std::vector<std::jthread> threads;
      for (size_t thread = 0; thread < kThreads; ++thread) {
        threads.emplace_back([&, thread] {
          start.arrive_and_wait();
          memory[thread] = y.realize().array_view<float>().data();
        });
      }
    }
    for (const float* each : memory) EXPECT_EQ(each, memory[0]);
    EXPECT_EQ(y.as_vec<float>(), (Floats{5, 6, 7}));
  }
}

// A plan says so where two threads use it at once; it never computes half of each. The length of
// its output changes, so that its memory does.
TEST(LazyThreads, ThatExecuteOnePlanAreRefusedOrAlone) {
  const Variable n("n", 1, 64);
  const Tensor x = Tensor::from<float>(Floats(64 * 64, 1), {64, 64});
  Tensor y = x[Slice{.stop = n.bind(64)}].matmul(x).matmul(x);
  ExecutionPlan plan = y.prepare();
  std::atomic<int> others = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] {
        for (int i = 0; i < 50; ++i) {
          const std::string error = error_of([&] { plan.execute_with_vars({{"n", 1 + i}}); });
          if (error != "no error" &&
              error != "[execute] the plan is executed by another thread: replicate it")
            ++others;
        }
      });
    }
  }
  EXPECT_EQ(others, 0);
  plan.execute();
  EXPECT_EQ(y.as_vec<float>(), Floats(64 * 64, 4096));
}

}  // namespace
}  // namespace tenon
