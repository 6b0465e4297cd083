// Handles of executors, on the CPU and on a device whose work happens late: what other streams see
// of them, what a run that fails leaves of them, and what is refused. Sums are computed by hand.
#include "runtime/handles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <thread>

#include "runtime/cpu/cpu_stream.h"
#include "runtime/run_owned.h"
#include "tests/runtime/fake_cuda.h"
#include "tests/runtime/log_program.h"

namespace tenon::runtime {
namespace {

using Floats = std::vector<float>;
using cuda::CudaStream;
using cuda::FakeCuda;
using cuda::Gpu;

constexpr int kLog = 0, kX = 1;

// Streams of one fake GPU.
struct FakeGpu {
  std::shared_ptr<CudaStream> stream() const { return CudaStream::open(gpu, {}).take(); }
  std::unique_ptr<Executor> load(const Program& program = *log_program()) const {
    return Executor::load(cuda::for_fake_cuda(program, log_functions()), stream()).take();
  }
  std::shared_ptr<Gpu> gpu = Gpu::open(FakeCuda::driver(), 0).take();
};

std::unique_ptr<Executor> on_cpu(std::vector<program::KernelFunction> functions = log_functions()) {
  return Executor::with_functions(log_program(), thread_pool(), std::move(functions)).take();
}

Status bind_log(Executor& executor, Floats values, std::vector<int64_t> shape) {
  return executor.handles().bind(kLog, {values.data(), DType::F32, shape, {}});
}

Floats log_of(Executor& executor) {
  const std::vector<std::byte> bytes = executor.handles().read(kLog).take();
  const auto* first = reinterpret_cast<const float*>(bytes.data());
  return {first, first + bytes.size() / sizeof(float)};
}

// A run with these values of x.
struct Addition {
  explicit Addition(Floats given) : x(std::move(given)), y(x.size()) {}
  Status on(Executor& executor, const RunOptions& options = {}) {
    const std::vector<int64_t> shape = {static_cast<int64_t>(x.size())};
    const std::vector<IoView> in = {executor.handles().view(kLog).take(),
                                    {x.data(), DType::F32, shape, {}}};
    const std::vector<IoView> out = {{y.data(), DType::F32, shape, {}}};
    if (Status status = executor.bind(in); !status.ok()) return status;
    return executor.execute(out, options);
  }
  Floats x, y;
};

void expect_sums(Executor& executor, const Floats& x, const Floats& sums) {
  Addition run(x);
  const Status status = run.on(executor);
  ASSERT_TRUE(status.ok()) << status.error().what();
  EXPECT_EQ(run.y, sums);
}

std::string text(const Status& status) { return status.ok() ? "no error" : status.error().what(); }

TEST(HandlesOfStreams, HaveTheirValueWhenTheyAreBound) {
  const FakeGpu gpu;
  const auto one = gpu.load(), two = gpu.load();
  ASSERT_TRUE(bind_log(*one, {1, 2, 3, 4}, {2, 2}).ok());
  ASSERT_TRUE(two->handles().bind(kLog, one->handles().value(kLog)).ok());
  expect_sums(*two, {10, 20}, {13, 27});  // before the stream of the other does anything
  EXPECT_EQ(log_of(*one), (Floats{1, 2, 3, 4}));
}

TEST(HandlesOfStreams, AreSharedWithAClone) {
  const FakeGpu gpu;
  const auto one = gpu.load();
  ASSERT_TRUE(bind_log(*one, {1, 2, 3, 4}, {2, 2}).ok());
  const auto clone = one->clone(gpu.stream()).take();
  expect_sums(*clone, {10, 20}, {13, 27});
  expect_sums(*one, {0, 1}, {3, 8});
  EXPECT_EQ(log_of(*clone), (Floats{1, 2, 10, 3, 4, 20}));
}

TEST(HandlesOfStreams, AreOneBeginningOfManyThreads) {
  constexpr int kThreads = 4, kRuns = 5;
  const FakeGpu gpu;
  const auto first = gpu.load();
  ASSERT_TRUE(bind_log(*first, {1, 2}, {1, 2}).ok());
  std::vector<std::unique_ptr<Executor>> clones;
  for (int i = 0; i < kThreads; ++i) clones.push_back(first->clone(gpu.stream()).take());
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&clone = *clones[static_cast<size_t>(i)], i] {
        float sum = 3;
        for (int run = 0; run < kRuns; ++run) {
          sum += static_cast<float>(i);
          expect_sums(clone, {static_cast<float>(i)}, {sum});
        }
      });
    }
  }
  EXPECT_EQ(log_of(*first), (Floats{1, 2}));
}

TEST(HandlesOfStreams, RefuseThoseOfOtherDevicesAndCapacities) {
  const FakeGpu here, elsewhere;
  const auto one = here.load(), far = elsewhere.load(),
             smaller = here.load(*log_program(0, false, 4));
  ASSERT_TRUE(bind_log(*far, {1, 2}, {1, 2}).ok());
  ASSERT_TRUE(bind_log(*smaller, {1, 2}, {1, 2}).ok());
  EXPECT_EQ(text(one->handles().bind(kLog, far->handles().value(kLog))),
            "[bind_handle] \"log\": the handle is on another device");
  EXPECT_EQ(text(one->handles().bind(kLog, smaller->handles().value(kLog))),
            "[bind_handle] \"log\" has capacity [1, 8], but the handle's is [1, 4]");
  EXPECT_FALSE(one->handles().is_bound(kLog));
}

TEST(HandlesOfStreams, ThatAreFedPassByTheHost) {
  FakeCuda& fake = FakeCuda::get();
  const FakeGpu gpu;
  const auto executor = gpu.load();
  ASSERT_TRUE(bind_log(*executor, {1}, {1, 1}).ok());
  Floats x = {1};
  const int64_t shape[] = {1};
  ASSERT_TRUE(executor->handles().bind(kX, {x.data(), DType::F32, shape, {}}).ok());
  ASSERT_TRUE(executor->handles().feed(kX, 0).ok());
  const auto run = [&] {
    const std::vector<IoView> in = {executor->handles().view(kLog).take(),
                                    executor->handles().view(kX).take()};
    const std::vector<IoView> out = {{nullptr, DType::F32, {}, {}}};
    executor->bind(in).throw_if_error();
    executor->execute(out).throw_if_error();
  };
  run();  // 1 1, y = 2
  const int sends = fake.sends, receives = fake.receives;
  run();                                   // 1 1 2, y = 4
  EXPECT_EQ(fake.sends, sends + 1);        // what the kernels are called with
  EXPECT_EQ(fake.receives, receives + 1);  // whether they found a fault
  EXPECT_EQ(log_of(*executor), (Floats{1, 1, 2}));
}

TEST(HandlesAfterAFailure, AreAsLongAsBeforeAFault) {
  const FakeGpu gpu;
  for (const auto& executor : {on_cpu(), gpu.load()}) {
    ASSERT_TRUE(bind_log(*executor, {1, 2}, {2, 1}).ok());
    EXPECT_NE(text(Addition({1, 2000}).on(*executor)).find("2002"), std::string::npos);  // appended
    EXPECT_EQ(log_of(*executor), (Floats{1, 2}));
    expect_sums(*executor, {5, 6}, {6, 8});
    EXPECT_EQ(log_of(*executor), (Floats{1, 5, 2, 6}));
  }
}

std::stop_source while_it_appends;

void append_and_stop(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin,
                     int64_t end, int64_t* fault) {
  append_rows(buffers, dims, scratch, begin, end, fault);
  while_it_appends.request_stop();
}

TEST(HandlesAfterAFailure, AreAsLongAsBeforeAStopInTheMiddle) {
  const auto executor = on_cpu({append_and_stop, sum_rows});
  ASSERT_TRUE(bind_log(*executor, {1, 2}, {2, 1}).ok());
  while_it_appends = {};
  EXPECT_EQ(text(Addition({3, 4}).on(*executor, {.stop = while_it_appends.get_token()})),
            "[run] cancelled");
  EXPECT_TRUE(while_it_appends.stop_requested());  // by the run: it had begun
  EXPECT_EQ(log_of(*executor), (Floats{1, 2}));
  expect_sums(*executor, {5, 6}, {6, 8});
}

// Nothing can be copied to the host while `full`.
class FullHost : public cpu::CpuStream {
 public:
  using CpuStream::CpuStream;
  Status copy_out(void* to, const void* from, int64_t bytes) override {
    if (full) return user_error("no room");
    return CpuStream::copy_out(to, from, bytes);
  }
  bool full = false;
};

TEST(HandlesAfterAFailure, AreAsLongAsBeforeWhereALateOutputIsNotTaken) {
  auto functions = std::make_shared<const cpu::KernelFunctions>(
      std::vector<program::KernelFunction>{append_rows, sum_rows});
  const auto stream = std::make_shared<FullHost>(thread_pool(), std::move(functions));
  const auto executor = Executor::load(log_program(0, true), stream).take();
  ASSERT_TRUE(bind_log(*executor, {1, 2}, {2, 1}).ok());
  Floats x = {5, 6};
  const int64_t shape[] = {2};
  const auto run = [&] {
    const std::vector<IoView> in = {executor->handles().view(kLog).take(),
                                    {x.data(), DType::F32, shape, {}}};
    return run_owned(*executor, in);
  };
  stream->full = true;
  EXPECT_STREQ(run().error().what(), "no room");
  stream->full = false;
  EXPECT_EQ(log_of(*executor), (Floats{1, 2}));
  EXPECT_TRUE(run().ok());
  EXPECT_EQ(log_of(*executor), (Floats{1, 5, 2, 6}));
}

TEST(HandlesAndMemory, GetSpareScratchWithinTheLimit) {
  constexpr int64_t kScratch = 1 << 16;
  FakeCuda& fake = FakeCuda::get();
  const FakeGpu gpu;
  const auto executor = gpu.load(*log_program(kScratch));
  ASSERT_TRUE(bind_log(*executor, {1}, {1, 1}).ok());
  const int64_t needed = executor->peak_bytes({{"batch", 1}, {"past", 1}}).take();
  ASSERT_GE(needed, 2 * kScratch);
  fake.fail_allocations_from = static_cast<int>(needed + 8192);
  Addition run({2});
  EXPECT_EQ(text(run.on(*executor, {.memory_limit = needed})), "no error");
  EXPECT_NE(text(run.on(*executor)).find("out of memory"), std::string::npos);  // twice that
  fake.fail_allocations_from = -1;
  EXPECT_EQ(log_of(*executor), (Floats{1, 2}));
}

TEST(HandlesAndMemory, AreNotCopiedWhereNoRunWritesThem) {
  auto reader = std::make_shared<Program>(*log_program());
  reader->steps.erase(reader->steps.begin());  // it appends
  const auto one = Executor::with_functions(reader, thread_pool(), log_functions()).take();
  ASSERT_TRUE(bind_log(*one, {1, 2}, {1, 2}).ok());
  const HandleValue fork = one->handles().value(kLog);
  EXPECT_EQ(one->handles().view(kLog).take().data, fork.memory->block.data());
  EXPECT_FALSE(one->handles().change());
}

TEST(Handles, RefuseMemoryThatIsNotDense) {
  const auto executor = on_cpu();
  Floats values(16);
  const auto error_of = [&](std::vector<int64_t> shape, std::vector<int64_t> capacity) {
    return text(executor->handles().bind(kLog, {values.data(), DType::F32, shape, capacity}));
  };
  const std::string dense = "[bind_handle] \"log\": the value must be dense, but has shape ";
  EXPECT_EQ(error_of({2, 2}, {2, 4}), dense + "[2, 2] and capacity [2, 4]");
  EXPECT_EQ(error_of({2, 2}, {2}), dense + "[2, 2] and capacity [2]");
  EXPECT_EQ(error_of({2, 2}, {2, 2, 2}), dense + "[2, 2] and capacity [2, 2, 2]");
  EXPECT_EQ(error_of({2, 2}, {1, 2}), dense + "[2, 2] and capacity [1, 2]");
  EXPECT_EQ(error_of({2, 2}, {3, 2}), "no error");
}

}  // namespace
}  // namespace tenon::runtime
