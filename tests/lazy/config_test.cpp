// PrepareConfig decides how tensors are compiled, and what it leaves out the environment does.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "lazy/schedule_cache.h"
#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Environment = std::map<std::string, std::string>;

// The environment is read once: what depends on it runs in a process of its own, that starts anew.
void expect_in(const Environment& environment, bool (*holds)()) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  EXPECT_EXIT(std::exit(holds() ? 0 : 1), testing::ExitedWithCode(0), "");
  for (const auto& [name, value] : environment) unsetenv(name.c_str());
}

Tensor products() {
  Tensor x = Tensor::from(std::vector<float>(64 * 64, 0.5F), {64, 64});
  for (int i = 0; i < 4; ++i) x = x.matmul(x).softmax();
  return x;
}
PlanStats stats_of(const PrepareConfig& config) { return products().prepare_with(config).stats(); }

TEST(ConfigDeathTest, IsThatOfTheEnvironment) {
  expect_in({{"TENON_OPTIMIZER", "plain"},
             {"TENON_CODEGEN", "c"},
             {"TENON_DEVICE", "null"},
             {"TENON_MEMORY_PLANNER", "remap"},
             {"TENON_SCHEDULE_CACHE", "0"}},
            [] {
              const PrepareConfig expected{.optimizer = OptStrategy::Plain{},
                                           .generator = "c",
                                           .device = Device::Null(),
                                           .planner = PlanMode::Remap,
                                           .schedule_cache = false};
              return PrepareConfig::from_environment() == expected;
            });
  const PrepareConfig usual = PrepareConfig::from_environment();
  EXPECT_FALSE(usual.optimizer || usual.device || usual.planner);
  EXPECT_EQ(usual.schedule_cache, true);
}

TEST(ConfigDeathTest, OfTheEnvironmentIsThatOfRealizeAndPrepare) {
  expect_in({{"TENON_DEVICE", "null"}}, [] {
    Tensor made = Tensor::zeros({2}) + 1.0, later = Tensor::zeros({2}) + 1.0;
    made.realize();
    return made.device() == Device::Null() && later.prepare().steps()[0].device == Device::Null();
  });
  expect_in({{"TENON_SCHEDULE_CACHE", "0"}}, [] {
    for (int i = 0; i < 2; ++i) Tensor::from<float>({1}).exp().realize();
    return lazy::schedule_cache_stats().compiled == 2;
  });
  expect_in({{"TENON_MEMORY_PLANNER", "disabled"}}, [] {
    Tensor x = products();
    const PlanStats stats = x.prepare().stats();
    return stats.arena_bytes == stats.unshared_bytes;
  });
}

// The other generator needs no C compiler.
TEST(ConfigDeathTest, DecidesTheGenerator) {
  expect_in({{"TENON_CC", "/no/such/compiler"}}, [] {
    const auto make = [] { return Tensor::from<float>({1, 4}).sqrt(); };
    make().realize_with({.generator = "llvm"});
    const std::string error = error_of([&] { make().realize_with({.generator = "c"}); });
    return error.find("/no/such/compiler") != std::string::npos;
  });
}

// The plain optimizer packs nothing.
TEST(Config, DecidesTheOptimizer) {
  EXPECT_LT(stats_of({.optimizer = OptStrategy::Plain{}}).kernels,
            stats_of({.optimizer = OptStrategy::Analytic{}}).kernels);
}

TEST(Config, DecidesTheMemoryPlanner) {
  const PlanStats arena = stats_of({.planner = PlanMode::Arena}),
                  none = stats_of({.planner = PlanMode::Disabled});
  EXPECT_EQ(none.arena_bytes, none.unshared_bytes);
  EXPECT_LT(arena.arena_bytes, arena.unshared_bytes);
}

// What a plan is compiled with is part of what it is kept by.
TEST(Config, IsToldApartByTheScheduleCache) {
  const auto compiles = [](const PrepareConfig& config) {
    const int64_t before = lazy::schedule_cache_stats().compiled;
    (Tensor::from<float>({1, 2, 3}) * 7.25).cos().realize_with(config);
    return lazy::schedule_cache_stats().compiled - before;
  };
  for (const int64_t expected : {1, 0}) {
    EXPECT_EQ(compiles({}), expected);
    EXPECT_EQ(compiles({.optimizer = OptStrategy::Plain{}}), expected);
    EXPECT_EQ(compiles({.generator = "c"}), expected);
    EXPECT_EQ(compiles({.planner = PlanMode::Remap}), expected);
    EXPECT_EQ(compiles({.planner = PlanMode::Disabled}), expected);
    EXPECT_EQ(compiles({.schedule_cache = false}), 1);
  }
}

}  // namespace
}  // namespace tenon
