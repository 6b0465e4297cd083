// Floors and receipts of steps that were not run: times, bytes and limits are made up, and what
// follows from them is computed by hand.
#include "measure/receipt.h"

#include <gtest/gtest.h>

#include "measure/machine_limits.h"

namespace tenon::measure {
namespace {

using program::Arithmetic;
using program::BufferKind;
using runtime::StepClock;

// Reading a byte takes 0.01, 0.1 and 1 ns; writing one as long as reading.
MachineLimits limits() {
  return {.threads = 1,
          .f32_gflops = 100,
          .bf16_gflops = 200,
          .int8_gflops = 0,
          .memory = {{"L1", 1000, 100, 100}, {"L2", 10000, 10, 10}, {"memory", 0, 1, 1}}};
}

// Three launches of two kernels: y = f(x), z = f(y), y = g(z); each buffer has 4000 bytes.
class ThreeSteps {
 public:
  ThreeSteps() {
    for (int i = 0; i < 3; ++i) program_.arena.push_back({Dim(4000), i});
    program_.code = {std::make_shared<program::Code>(), std::make_shared<program::Code>()};
    add(0, 0, 1, "f", "layer.0");
    add(0, 1, 2, "f", "layer.1");
    add(1, 2, 1, "g", "out");
    list_ = runtime::StepList::make(program_, program_.steps, variables_).take();
    list_.resolve({}).throw_if_error();
    list_.point(BufferKind::Arena, [&](const program::BufferRef& ref) {
      return memory_.data() + static_cast<ptrdiff_t>(ref.index) * 4000;
    });
  }

  // Runs that took these times, in microseconds a step.
  RunProfile profile(const std::vector<std::vector<int>>& runs) const {
    RunProfile profile({1000, 10000, 0});
    for (int i = 0; i < 2; ++i) {
      profile.trace_next();
      run(profile, {0, 0, 0});
    }
    for (const auto& times : runs) {
      profile.time_next();
      run(profile, times);
    }
    return profile;
  }

  program::Program& program() { return program_; }

 private:
  void add(int code, int from, int to, const char* kind, const char* origin) {
    program_.steps.push_back({.code = code,
                              .buffers = {{BufferKind::Arena, from}, {BufferKind::Arena, to}},
                              .writes = {false, true},
                              .flops = 1'000'000,
                              .bytes = 8000,
                              .kind = kind,
                              .origin = origin});
  }
  void run(RunProfile& profile, const std::vector<int>& microseconds) const {
    profile.begins(list_, variables_, {});
    for (int i = 0; i < list_.size(); ++i) {
      const StepClock::time_point begin;
      const std::chrono::microseconds took(microseconds[static_cast<size_t>(i)]);
      profile.ran(list_, i, begin, begin + took);
    }
  }

  program::Program program_;
  runtime::Variables variables_;
  runtime::StepList list_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(12000);
};

TEST(Receipt, EqualKernelsAreOneAndTimesAreMedians) {
  const ThreeSteps steps;
  const RunReceipt receipt =
      make_receipt(steps.profile({{20, 30, 10}, {25, 40, 12}, {90, 35, 11}}), limits(), limits());
  ASSERT_EQ(receipt.kernels.size(), 2u);
  const KernelReceipt &f = receipt.kernels[0], &g = receipt.kernels[1];
  EXPECT_EQ(f.name, "f");
  EXPECT_EQ(f.origins, (std::vector<std::string>{"layer.0", "layer.1"}));
  EXPECT_EQ(f.launches, 2);
  EXPECT_DOUBLE_EQ(f.milliseconds, 0.060);  // 25 + 35 us
  EXPECT_DOUBLE_EQ(g.milliseconds, 0.011);
  EXPECT_DOUBLE_EQ(f.share_of_run, 60.0 / 71);
  EXPECT_DOUBLE_EQ(f.flops, 2e6);
  EXPECT_DOUBLE_EQ(f.bytes, 16000);
  EXPECT_DOUBLE_EQ(f.gflops(), 2e6 / 60e3);  // in 60,000 ns
  EXPECT_DOUBLE_EQ(f.gbs(), 16000 / 60e3);
  EXPECT_TRUE(receipt.unsteady.empty());
}

// A step needs 10 us for its operations. x comes around once in a run, after 12000 bytes: from
// memory, 4 us. What it writes is there since the last run: y after 8000 bytes, z after 12000.
TEST(Receipt, AFloorIsTheLongerOfComputingAndMoving) {
  ThreeSteps steps;
  RunReceipt receipt = make_receipt(steps.profile({{20, 20, 20}}), limits(), limits());
  EXPECT_EQ(receipt.kernels[0].bound, Bound::Compute);
  EXPECT_EQ(receipt.kernels[0].limit, "f32");
  EXPECT_DOUBLE_EQ(receipt.floor_ms, 0.030);
  EXPECT_DOUBLE_EQ(receipt.kernels[0].share_of_limit(), 0.5);
}

TEST(Receipt, BytesComeFromTheNearestLevelThatStillHasThem) {
  ThreeSteps steps;
  MachineLimits quick = limits();
  quick.f32_gflops = 1e9;
  const RunReceipt receipt = make_receipt(steps.profile({{20, 20, 20}}), quick, quick);
  // In the order of touches, with the bytes since: x 12000, y 8000; y 4000, z 12000; z 4000, y
  // 8000. From memory 4 us, from L2 0.4 us each.
  const KernelReceipt &f = receipt.kernels[0], &g = receipt.kernels[1];
  EXPECT_NEAR(f.floor_ms, (4 + 0.4 + 0.4 + 4) * 1e-3, 1e-9);
  EXPECT_EQ(f.bound, Bound::Memory);
  EXPECT_EQ(f.limit, "memory");
  EXPECT_NEAR(g.floor_ms, 0.8e-3, 1e-9);
  EXPECT_EQ(g.bound, Bound::Cache);
  EXPECT_EQ(g.limit, "L2");
}

TEST(Receipt, EachArithmeticHasARateOfItsOwn) {
  ThreeSteps steps;
  steps.program().steps[0].arithmetic = steps.program().steps[1].arithmetic = Arithmetic::Bf16;
  steps.program().steps[2].arithmetic = Arithmetic::Int8;  // for which there is no instruction
  const RunReceipt receipt = make_receipt(steps.profile({{30, 30, 20}}), limits(), limits());
  EXPECT_EQ(receipt.kernels[0].arithmetic, "bf16");
  EXPECT_NEAR(receipt.kernels[0].floor_ms, 0.010, 1e-9);  // twice 5 us
  EXPECT_EQ(receipt.kernels[1].arithmetic, "int8");
  EXPECT_NEAR(receipt.kernels[1].floor_ms, 0.010, 1e-9);
}

TEST(Receipt, SaysWhichLimitsDifferedByOverThreePercent) {
  const ThreeSteps steps;
  MachineLimits after = limits();
  after.f32_gflops = 96;
  after.memory[1].read_gbs = 5;  // no kernel is held against it
  const RunReceipt receipt = make_receipt(steps.profile({{20, 20, 20}}), limits(), after);
  EXPECT_EQ(receipt.unsteady, std::vector<std::string>{"f32 100.0 and 96.0 GFLOP/s"});
  EXPECT_DOUBLE_EQ(receipt.limits.f32_gflops, 100);
  after.f32_gflops = 98;
  EXPECT_TRUE(make_receipt(steps.profile({{20, 20, 20}}), limits(), after).unsteady.empty());
}

TEST(Receipt, NamesWhatIsBelowTheRequired) {
  const ThreeSteps steps;
  RunReceipt receipt = make_receipt(steps.profile({{40, 40, 12}}), limits(), limits());
  receipt.milliseconds = 0.1;  // its floor is 0.03
  EXPECT_TRUE(receipt.below(0.29, 0.24).empty());
  EXPECT_EQ(
      receipt.below(0.8, 0.5),
      (std::vector<std::string>{"the run is at 30.0% of its limit, 80.0% is required",
                                "f (layer.0 +1) is at 25.0% of its limit, 50.0% is required"}));
  receipt.kernels[0].share_of_run = 0.019;  // too little to count
  EXPECT_TRUE(receipt.below(0, 0.5).empty());
}

TEST(Receipt, IsATableForPeople) {
  const ThreeSteps steps;
  RunReceipt receipt = make_receipt(steps.profile({{40, 40, 12}}), limits(), limits());
  receipt.milliseconds = 0.1;
  EXPECT_EQ(
      receipt.to_string(),
      R"(kernel                     from                                 launches        ms  of run   GFLOP/s    GB/s  limit   of limit
f                          layer.0 +1                                  2     0.080   87.0%      25.0     0.2  f32        25.0%
g                          out                                         1     0.012   13.0%      83.3     0.7  f32        83.3%
the whole run                                                          3     0.100  100.0%      30.0     0.2             30.0%
kernels one by one: 0.092 ms; at the limits: 0.030 ms
limits at 1 thread: f32 100.0 GFLOP/s, bf16 200.0; read / copy in GB/s: L1 100.0 / 100.0 L2 10.0 / 10.0 memory 1.0 / 1.0
)");
}

}  // namespace
}  // namespace tenon::measure
