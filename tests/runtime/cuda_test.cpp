// The runtime for GPUs on a fake driver: the same programs as on CPUs, with memory that the host
// cannot touch and work that happens late. Expected values are arithmetic: y = 2 x + w.
#include <gtest/gtest.h>

#include <string>

#include "runtime/devices.h"
#include "tests/runtime/cuda_fixture.h"

namespace tenon::runtime::cuda {
namespace {

TEST_F(CudaTest, ComputesTheSameFunctionAtEveryShape) {
  for (const bool graphs : {true, false}) {
    for (const int pools : {1, 0}) {
      fake_.memory_pools = pools;
      load(program(), {.graphs = graphs});
      set_weight(3);
      for (const auto& [batch, seq] : {std::pair{1, 1}, {4, 7}, {100, 512}, {1, 1}, {3, 300}}) {
        check_run(batch, seq, 3);
      }
    }
  }
}

TEST_F(CudaTest, CapacityMayExceedTheExtentAndGapsAreKept) {
  load();
  set_weight(1);
  check_run(*executor_, 5, 3, 8, 3, 1);
  check_run(*executor_, 5, 3, 3, 16, 1);
  check_run(*executor_, 5, 3, 9, 4, 1);
}

TEST_F(CudaTest, LaunchesAreRecordedOnceAndReplayedAtOtherExtents) {
  load();
  set_weight(2);
  check_run(64, 8, 2);
  EXPECT_EQ(fake_.recordings, 0);
  check_run(64, 8, 2);
  EXPECT_EQ(fake_.recordings, 1);
  const int launches = fake_.launches;
  for (const auto& [batch, seq] : {std::pair{64, 8}, {1, 9}, {33, 40}, {256, 3}}) {
    check_run(batch, seq, 2);
  }
  EXPECT_EQ(fake_.recordings, 1);
  EXPECT_EQ(fake_.launches, launches);
  EXPECT_EQ(fake_.replays, 5);
  check_run(257, 1, 2);  // more than four items for a block: without scratch there may be more
  EXPECT_EQ(fake_.recordings, 2);
  EXPECT_EQ(fake_.most_blocks, 512);
}

TEST_F(CudaTest, BlocksThatNeedScratchAreFew) {
  load(for_fake_cuda(*test_program(), test_functions()), {.graphs = false});
  set_weight(2);
  check_run(1000, 16, 2);
  // Two multiprocessors with four blocks each, and 64 bytes, aligned.
  EXPECT_EQ(executor_->peak_bytes({{"batch", 1000}, {"seq", 16}}).take(), 1000 * 64 + 8 * 256);
}

TEST_F(CudaTest, ArgumentsAreSentWhenTheyChanged) {
  load();
  set_weight(2);
  check_run(4, 4, 2);
  int sends = fake_.sends;
  check_run(4, 4, 2);
  EXPECT_EQ(fake_.sends, sends + 1);  // the input
  sends = fake_.sends;
  check_run(4, 3, 2);
  EXPECT_EQ(fake_.sends, sends + 2);
}

TEST_F(CudaTest, ANewParameterHoldsFromTheNextRun) {
  load();
  set_weight(1);
  check_run(2, 2, 1);
  set_weight(10);
  check_run(2, 2, 10);
}

TEST_F(CudaTest, AnUnsetParameterIsAnError) {
  load();
  Run run(1, 1, 1, 1);
  ASSERT_TRUE(executor_->bind(run.in()).ok());
  EXPECT_STREQ(executor_->execute(run.out()).error().what(),
               "parameter \"w\" is not set: call set_param before the first run");
}

TEST_F(CudaTest, ExecutorsOfAProgramShareCodeAndWeightsButNotWhatTheyWereSet) {
  auto source = test_program();
  const float w = 6;
  source->params[0].initial = std::as_bytes(std::span(&w, 1));
  const auto shared = for_fake_cuda(*source, test_functions());
  const std::shared_ptr<Gpu> gpu = Gpu::open(FakeCuda::driver(), 0).take();
  const auto one = Executor::load(shared, CudaStream::open(gpu, {}).take()).take();
  const auto two = Executor::load(shared, CudaStream::open(gpu, {}).take()).take();
  EXPECT_EQ(fake_.modules, 3);
  check_run(*one, 2, 3, 3, 3, 6);
  check_run(*two, 2, 3, 3, 3, 6);
  EXPECT_EQ(one->params().param(0), two->params().param(0));
  set_weight(*one, 7);
  check_run(*one, 2, 3, 3, 3, 7);
  check_run(*two, 2, 3, 3, 3, 6);
}

TEST_F(CudaTest, ProgramsThatReadTheSameWeightsShareThem) {
  const auto w = std::make_shared<const float>(6.0F);
  const auto program_of = [&](int64_t most_seq) {
    auto source = test_program(most_seq);
    source->params[0].initial = std::as_bytes(std::span(w.get(), 1));
    source->params[0].owner = w;
    return for_fake_cuda(*source, test_functions());
  };
  const std::shared_ptr<Gpu> gpu = Gpu::open(FakeCuda::driver(), 0).take();
  const auto one = Executor::load(program_of(16), CudaStream::open(gpu, {}).take()).take();
  const auto two = Executor::load(program_of(32), CudaStream::open(gpu, {}).take()).take();
  check_run(*one, 2, 3, 3, 3, 6);
  check_run(*two, 2, 3, 3, 3, 6);
  EXPECT_EQ(one->params().param(0), two->params().param(0));
  EXPECT_EQ(one->params().packed(0), two->params().packed(0));
  set_weight(*one, 7);
  check_run(*one, 2, 3, 3, 3, 7);
  check_run(*two, 2, 3, 3, 3, 6);
}

TEST_F(CudaTest, ACloneThatRunsFirstHasWhatWasSet) {
  load();
  set_weight(5);
  const auto clone = executor_->clone(FakeCuda::stream()).take();
  check_run(*clone, 2, 3, 3, 3, 5);
  check_run(2, 3, 5);
}

TEST_F(CudaTest, AFaultEndsTheRunAndNamesTheStep) {
  for (const bool graphs : {true, false}) {
    load(program({faulty_rows, add_weight, pack_weight}), {.graphs = graphs});
    set_weight(1);
    for (int i = 0; i < 3; ++i) {
      Run run(8, 1, 1, 1);
      ASSERT_TRUE(executor_->bind(run.in()).ok());
      const Status status = executor_->execute(run.out());
      ASSERT_FALSE(status.ok());
      EXPECT_STREQ(status.error().what(),
                   "[elementwise] double: index 7 lies outside 0..4 of input \"x\"");
      check_run(2, 1, 1);  // without row 3: no fault is left over
    }
  }
}

TEST_F(CudaTest, ACommittedRunEndsWhenItIsWaitedFor) {
  load();
  set_weight(4);
  Run first(3, 5, 5, 8), second(2, 2, 2, 2);
  ASSERT_TRUE(executor_->bind(first.in()).ok());
  ASSERT_TRUE(executor_->commit(first.out()).ok());
  first.x.assign(first.x.size(), 99);  // read already
  EXPECT_EQ(first.y[0], -5);
  ASSERT_TRUE(executor_->wait().ok());
  first.expect(4);
  // Several may be under way.
  first = Run(3, 5, 5, 5);
  ASSERT_TRUE(executor_->bind(first.in()).ok());
  ASSERT_TRUE(executor_->commit(first.out()).ok());
  ASSERT_TRUE(executor_->bind(second.in()).ok());
  ASSERT_TRUE(executor_->commit(second.out()).ok());
  EXPECT_EQ(first.y[0], -5);
  ASSERT_TRUE(executor_->wait().ok());
  first.expect(4);
  second.expect(4);
  ASSERT_TRUE(executor_->wait().ok());
}

TEST_F(CudaTest, ShapesMayChangeWhileOutputsAreUnderWay) {
  load();
  set_weight(4);
  Run run(3, 5, 5, 8);
  ASSERT_TRUE(executor_->bind(run.in()).ok());
  ASSERT_TRUE(executor_->commit(run.out()).ok());
  const std::vector<int64_t> shape = run.shape, capacity = run.yc;
  run.shape = run.yc = {1, 1};
  ASSERT_TRUE(executor_->wait().ok());
  run.shape = shape;
  run.yc = capacity;
  run.expect(4);
}

TEST_F(CudaTest, AnExecutorMayGoWhileItsRunIsUnderWay) {
  load();
  set_weight(4);
  Run run(3, 5, 5, 8);
  ASSERT_TRUE(executor_->bind(run.in()).ok());
  ASSERT_TRUE(executor_->commit(run.out()).ok());
  executor_.reset();
}

TEST_F(CudaTest, ARunThatIsCancelledEndsAndTheNextOneDoesNot) {
  load();
  set_weight(1);
  std::stop_source stop;
  stop.request_stop();
  Run run(2, 2, 2, 2);
  ASSERT_TRUE(executor_->bind(run.in()).ok());
  EXPECT_STREQ(executor_->execute(run.out(), {.stop = stop.get_token()}).error().what(),
               "[run] cancelled");
  EXPECT_TRUE(executor_->cancelled());
  check_run(2, 2, 1);
  EXPECT_FALSE(executor_->cancelled());
}

TEST_F(CudaTest, LimitsAndMemoryThatRunsOutAreErrors) {
  load();
  set_weight(1);
  Run run(2, 2, 2, 2);
  ASSERT_TRUE(executor_->bind(run.in()).ok());
  EXPECT_FALSE(executor_->execute(run.out(), {.memory_limit = 100}).ok());
  check_run(2, 2, 1);
  fake_.fail_allocations_from = 100000;
  Run large(100, 512, 512, 512);
  ASSERT_TRUE(executor_->bind(large.in()).ok());
  const Status status = executor_->execute(large.out());
  ASSERT_FALSE(status.ok());
  EXPECT_NE(std::string(status.error().what()).find("out of memory on the GPU"), std::string::npos);
  check_run(2, 2, 1);
  fake_.fail_allocations_from = -1;
  check_run(100, 512, 1);
}

TEST_F(CudaTest, ProgramsForOtherDevicesAreErrors) {
  const auto on_gpu = Executor::load(test_program(), FakeCuda::stream());
  EXPECT_STREQ(on_gpu.error().what(), "[run] the program was compiled for cpu, not for a GPU");
  const auto on_cpu = Executor::load(program(), thread_pool());
  EXPECT_STREQ(on_cpu.error().what(), "[run] the program was compiled for cuda, not for the CPU");
  for (const int arch : {80, 100, 91}) {
    auto other = std::make_shared<Program>(*program());
    other->cuda_arch = arch;
    EXPECT_FALSE(Executor::load(other, FakeCuda::stream()).ok()) << arch;
  }
}

TEST_F(CudaTest, DamagedCodeIsAnError) {
  auto damaged = std::make_shared<Program>(*program());
  auto code = std::make_shared<program::Code>(*damaged->code[0]);
  code->bytes[0] ^= std::byte{1};
  damaged->code[0] = code;
  const auto loaded = Executor::load(damaged, FakeCuda::stream());
  EXPECT_STREQ(loaded.error().what(),
               "[double] the machine code does not match its digest: the artifact is damaged");
}

TEST_F(CudaTest, DevicesThatCannotBeUsedSayWhy) {
  fake_.capability_major = 7;
  EXPECT_STREQ(Gpu::open(FakeCuda::driver(), 0).error().what(),
               "device 0, Fake, has compute capability 7.0; 8.0 is needed");
  EXPECT_STREQ(Gpu::open(FakeCuda::driver(), 1).error().what(), "no device 1: the driver knows 1");
}

TEST(Devices, TheCpuIsThereAndAGpuIsOrSaysWhyNot) {
  EXPECT_EQ(why_unavailable({program::DeviceKind::Cpu, 0}), "");
  EXPECT_NE(why_unavailable({program::DeviceKind::Cpu, 1}), "");
  const DeviceId absent{program::DeviceKind::Cuda, 1000};
  EXPECT_NE(why_unavailable(absent), "");
  EXPECT_FALSE(open_stream(absent, thread_pool()).ok());
  EXPECT_GE(known_devices().size(), 2U);
  if (!driver()) {
    EXPECT_EQ(why_unavailable({program::DeviceKind::Cuda, 0}), driver().error().what());
    EXPECT_FALSE(cuda_arch(0).ok());
  }
}

}  // namespace
}  // namespace tenon::runtime::cuda
