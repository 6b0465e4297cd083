// Which options a cache takes for the same.
#include "api/differing_options.h"

#include <gtest/gtest.h>

#include "tests/error_of.h"

namespace tenon {
namespace {

TEST(DifferingOptions, AreNoneWhereWhatIsLeftOutStandsForTheOther) {
  EXPECT_EQ(differing_options({}, {}), "");
  EXPECT_EQ(differing_options({}, {.device = Device::Cpu(), .dispatch = DispatchOptions()}), "");
  EXPECT_EQ(differing_options({.profile = Profile::Throughput}, {.threads = 1}), "");
  EXPECT_EQ(differing_options({.memory = PlanOptions()}, {.profile = Profile::Latency}), "");
  EXPECT_EQ(differing_options({.codegen = "llvm"}, {}), "");
  EXPECT_EQ(differing_options({.specialize = Specialization{.most = 0}}, {}), "");
  EXPECT_EQ(differing_options({.name = "a"}, {.verbosity = Verbosity::Off}), "");
}

TEST(DifferingOptions, AreNamedWithBothValues) {
  EXPECT_EQ(differing_options({.threads = 1}, {.threads = 2}), "threads 1, now 2");
  EXPECT_EQ(differing_options({}, {.dispatch = {{.policy = DispatchPolicy::ForceCommon}}}),
            "dispatch prefer-native, now force-common");
  EXPECT_EQ(differing_options({.dim_binding = {{"seq", 4}}}, {.dim_binding = {{"seq", 8}}}),
            "dim_binding.seq 4, now 8");
  EXPECT_EQ(differing_options({.dim_bounds = {{"seq", {1, 4}}}}, {.threads = 3}),
            "dim_bounds.seq 1..4, now none; threads all, now 3");
  EXPECT_EQ(differing_options({.fusion = {.policy = FusionPolicy::Fusable}}, {}),
            "fusion.policy fusable, now direct");
  EXPECT_EQ(differing_options({}, {.fusion = {.assert_clean = true}}),
            "fusion.assert_clean false, now true");
  EXPECT_EQ(differing_options({}, {.supported_ops = std::set<std::string>{"add", "mul"}}),
            "supported_ops none, now add, mul");
  EXPECT_EQ(differing_options({.device = Device::Null()}, {}),
            "device null, now cpu; optimizer none, now analytic");
  EXPECT_EQ(differing_options({.codegen = "c"}, {}), "codegen c, now llvm");
  EXPECT_EQ(differing_options({}, {.specialize = Specialization{.after = 7}}),
            "specialize none, now after 7, cpu_share 0.1, most 32");
}

TEST(DifferingOptions, ThatAreNoGoodAreErrors) {
  EXPECT_EQ(user_error_of([] { differing_options({}, {.threads = -1}); }),
            "[compile] -1 threads: 0 or more are needed");
}

}  // namespace
}  // namespace tenon
