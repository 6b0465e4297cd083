// Steps that run at the same time, runs that are cancelled or may not have the memory they need,
// and two programs at once: on hand-written kernels. y = x * 2 + x * 4 + x * 8.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "runtime/run_owned.h"
#include "runtime/step_observer.h"
#include "tests/runtime/test_program.h"

namespace tenon::runtime {
namespace {

std::atomic<int> calls_running = 0, most_running = 0, calls = 0;
std::stop_source stop_after_first_call;

// Buffers: x, t; both of dims[0] elements a row. t = x * factor.
template <int factor>
void scale(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin, int64_t end,
           int64_t*) {
  const int running = ++calls_running;
  ++calls;
  int most = most_running;
  while (most < running && !most_running.compare_exchange_weak(most, running)) {
  }
  const auto* x = static_cast<const float*>(buffers[0]);
  auto* t = static_cast<float*>(buffers[1]);
  auto* row = static_cast<float*>(scratch);
  for (int64_t i = begin; i < end; ++i) {
    for (int64_t j = 0; j < dims[0]; ++j) row[j] = x[i * dims[0] + j] * factor;
    std::memcpy(t + i * dims[0], row, static_cast<size_t>(dims[0]) * sizeof(float));
  }
  --calls_running;
}

void scale_and_stop(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin,
                    int64_t end, int64_t* fault) {
  scale<2>(buffers, dims, scratch, begin, end, fault);
  stop_after_first_call.request_stop();
}

void fault_7(void* const*, const int64_t*, void*, int64_t, int64_t, int64_t* fault) {
  fault[0] = 1;
  fault[1] = 7;
  fault[2] = 5;
}
void fault_9(void* const*, const int64_t*, void*, int64_t, int64_t, int64_t* fault) {
  fault[0] = 1;
  fault[1] = 9;
  fault[2] = 5;
}

// Buffers: the three, y.
void sum(void* const* buffers, const int64_t* dims, void*, int64_t begin, int64_t end, int64_t*) {
  auto* y = static_cast<float*>(buffers[3]);
  for (int64_t i = begin * dims[0]; i < end * dims[0]; ++i) {
    y[i] = 0;
    for (int part = 0; part < 3; ++part) y[i] += static_cast<const float*>(buffers[part])[i];
  }
}

using Functions = std::vector<program::KernelFunction>;
Functions functions() { return {scale<2>, scale<4>, scale<8>, sum}; }

// The three products are one wave. Each is `microseconds` long by the estimate, at any shape.
std::shared_ptr<Program> three_products(int64_t microseconds) {
  auto p = std::make_shared<Program>();
  const Dim n = Symbol("n", {1, 1000}), bytes = n * 64;
  p->symbols = {Symbol("n", {1, 1000})};
  const program::IoSlot x{"x", {{n, 16}, DType::F32}, {16, 1}, {n, 16}};
  p->inputs = {x};
  p->outputs = {x};
  p->outputs[0].name = "y";
  for (int i = 0; i < 3; ++i) {
    p->arena.push_back({bytes, i});
    p->plan.slot_bytes.push_back(bytes);
    p->plan.slot_offsets.push_back(bytes * i);
    p->plan.slot_stages.push_back(0);
    program::Step step{.code = i,
                       .buffers = {{BufferKind::Input, 0}, {BufferKind::Arena, i}},
                       .writes = {false, true},
                       .dims = {Dim(16)},
                       .grid = n,
                       .scratch_bytes = 64,
                       .flops = microseconds * 50000,
                       .bytes = 0,
                       .kind = "scale",
                       .origin = "product " + std::to_string(i)};
    step.with_previous = i > 0;
    p->steps.push_back(step);
  }
  p->plan.bytes = bytes * 3;
  p->plan.stage_bytes = {p->plan.bytes};
  p->steps.push_back({.code = 3,
                      .buffers = {{BufferKind::Arena, 0},
                                  {BufferKind::Arena, 1},
                                  {BufferKind::Arena, 2},
                                  {BufferKind::Output, 0}},
                      .writes = {false, false, false, true},
                      .dims = {Dim(16)},
                      .grid = n,
                      .kind = "sum",
                      .origin = "sum"});
  p->code = {empty_code("a"), empty_code("b"), empty_code("c"), empty_code("sum")};
  return p;
}

class WaveTest : public ::testing::Test {
 protected:
  std::unique_ptr<Executor> load(int64_t microseconds, Functions with = functions()) {
    return Executor::with_functions(three_products(microseconds), *pool_, std::move(with)).take();
  }
  // Whether every element is right.
  static bool check(Executor& executor, int64_t rows) {
    std::vector<float> x(static_cast<size_t>(rows) * 16);
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i);
    const int64_t shape[] = {rows, 16};
    const IoView in[] = {{x.data(), DType::F32, shape, {}}};
    const auto outputs = run_owned(executor, in).take();
    std::vector<float> y(x.size());
    std::memcpy(y.data(), outputs[0].bytes.data(), outputs[0].bytes.size());
    for (size_t i = 0; i < x.size(); ++i) {
      if (y[i] != 14 * x[i]) return false;
    }
    return true;
  }
  static Status run(Executor& executor, int64_t rows, const RunOptions& options) {
    std::vector<float> x(static_cast<size_t>(rows) * 16), y(x.size());
    const int64_t shape[] = {rows, 16};
    const IoView in[] = {{x.data(), DType::F32, shape, {}}},
                 out[] = {{y.data(), DType::F32, shape, {}}};
    if (Status status = executor.bind(in); !status.ok()) return status;
    return executor.execute(out, options);
  }
  std::unique_ptr<ThreadPool> pool_ = make_worker_pool({.max_threads = 4});
};

TEST_F(WaveTest, GivesTheSameValuesInBatchesAndAlone) {
  for (const int64_t microseconds : {0, 10, 20, 45, 1000}) {
    auto executor = load(microseconds);
    for (const int threads : {1, 2, 3, 4}) {
      executor->set_threads(threads);
      for (const int64_t rows : {1, 2, 3, 100, 1000, 7}) {
        EXPECT_TRUE(check(*executor, rows)) << microseconds << " us, " << threads << " threads";
      }
    }
  }
}

TEST_F(WaveTest, StepsThatCannotOccupyAllThreadsAreOneBatch) {
  const auto calls_of = [&](int64_t microseconds, int threads) {
    auto executor = load(microseconds);
    executor->set_threads(threads);
    calls = 0;
    EXPECT_TRUE(check(*executor, 1000));
    return calls.load();
  };
  EXPECT_EQ(calls_of(20, 4), 3);  // one thread each, at the same time
  EXPECT_EQ(calls_of(35, 4), 6);  // two each
  EXPECT_EQ(calls_of(20, 1), 3);
  EXPECT_GT(calls_of(1000, 4), 12);  // all four each, one after the other
}

// Which steps it was told of, and how many kernels ran at once.
class Witness : public StepObserver {
 public:
  void begins(const StepList& steps, const Variables& variables,
              std::span<const int64_t> values) override {
    EXPECT_EQ(steps.size(), 4);
    EXPECT_EQ(values[static_cast<size_t>(variables.at("n"))], 100);
  }
  void ran(const StepList& steps, int index, StepClock::time_point begin,
           StepClock::time_point end) override {
    EXPECT_LE(last_, begin);
    EXPECT_LE(begin, end);
    last_ = end;
    origins.push_back(steps.step(index).origin);
  }
  std::vector<std::string> origins;

 private:
  StepClock::time_point last_{};
};

TEST_F(WaveTest, StepsThatAreObservedRunOneAfterTheOther) {
  for (const int64_t microseconds : {0, 20, 35, 1000}) {
    auto executor = load(microseconds);
    Witness witness;
    EXPECT_TRUE(run(*executor, 100, {.observer = &witness}).ok());
    const std::vector<std::string> all = {"product 0", "product 1", "product 2", "sum"};
    EXPECT_EQ(witness.origins, all);
    EXPECT_TRUE(run(*executor, 100, {}).ok());
    EXPECT_EQ(witness.origins.size(), 4u) << "a run that is not observed tells nothing";
  }
}

TEST_F(WaveTest, AnObservedRunReportsFaultsAndIsCancelled) {
  auto executor = load(20, {scale<2>, fault_7, scale<8>, sum});
  class : public StepObserver {
    void ran(const StepList&, int, StepClock::time_point, StepClock::time_point) override {}
  } nothing;
  const Status status = run(*executor, 10, {.observer = &nothing});
  ASSERT_FALSE(status.ok());
  EXPECT_STREQ(status.error().what(),
               "[scale] product 1: index 7 lies outside 0..4 of input \"x\"");
  auto stopped = load(20, {scale_and_stop, scale<4>, scale<8>, sum});
  stop_after_first_call = std::stop_source();
  EXPECT_FALSE(
      run(*stopped, 10, {.stop = stop_after_first_call.get_token(), .observer = &nothing}).ok());
  EXPECT_TRUE(stopped->cancelled());
}

TEST_F(WaveTest, TheFaultOfTheFirstStepIsReported) {
  for (const int64_t microseconds : {0, 20, 1000}) {
    auto executor = load(microseconds, {scale<2>, fault_7, fault_9, sum});
    for (const int threads : {1, 2, 4}) {
      executor->set_threads(threads);
      const Status status = run(*executor, 10, {});
      ASSERT_FALSE(status.ok());
      EXPECT_STREQ(status.error().what(),
                   "[scale] product 1: index 7 lies outside 0..4 of input \"x\"");
      EXPECT_FALSE(executor->cancelled());
    }
  }
}

TEST_F(WaveTest, ARunThatIsCancelledEndsAndTheNextOneDoesNot) {
  for (const int64_t microseconds : {20, 100000}) {
    auto executor = load(microseconds, {scale_and_stop, scale<4>, scale<8>, sum});
    for (const int threads : {1, 4}) {
      executor->set_threads(threads);
      stop_after_first_call = std::stop_source();
      const Status status = run(*executor, 1000, {.stop = stop_after_first_call.get_token()});
      ASSERT_FALSE(status.ok());
      EXPECT_STREQ(status.error().what(), "[run] cancelled");
      EXPECT_TRUE(executor->cancelled());
      EXPECT_TRUE(check(*executor, 10));
      EXPECT_FALSE(executor->cancelled());
    }
  }
}

TEST_F(WaveTest, ALongStepIsLeftInTheMiddle) {
  auto executor = load(100000, {scale_and_stop, scale<4>, scale<8>, sum});
  executor->set_threads(1);
  stop_after_first_call = std::stop_source();
  calls = 0;
  EXPECT_FALSE(run(*executor, 1000, {.stop = stop_after_first_call.get_token()}).ok());
  EXPECT_EQ(calls, 1);  // of 500
}

TEST_F(WaveTest, ARunThatIsNotCancelledIsAsEver) {
  auto executor = load(100000);
  const std::stop_source nobody;
  EXPECT_TRUE(run(*executor, 1000, {.stop = nobody.get_token()}).ok());
}

TEST_F(WaveTest, TheLimitIsOnArenaAndScratch) {
  auto executor = load(0);
  executor->set_threads(1);
  const int64_t needed = 3 * 10 * 64 + 64;
  EXPECT_EQ(executor->peak_bytes({{"n", 10}}).take(), needed);
  EXPECT_TRUE(run(*executor, 10, {.memory_limit = needed}).ok());
  const Status status = run(*executor, 10, {.memory_limit = needed - 1});
  ASSERT_FALSE(status.ok());
  EXPECT_STREQ(
      status.error().what(),
      "[run] 1984 bytes are needed (arena 1920, scratch 64), but the limit is 1983 at n = 10");
  EXPECT_TRUE(run(*executor, 9, {.memory_limit = needed - 1}).ok());
  EXPECT_TRUE(check(*executor, 1000));
}

TEST_F(WaveTest, PeakBytesWantsEveryExtentAndNoOther) {
  auto executor = load(0);
  EXPECT_STREQ(executor->peak_bytes({}).error().what(), "no value of extent n is given");
  EXPECT_STREQ(executor->peak_bytes({{"n", 1001}}).error().what(),
               "extent n = 1001 is outside its bounds 1..1000");
  EXPECT_STREQ(executor->peak_bytes({{"n", 1}, {"m", 1}}).error().what(),
               "the model has no extent m");
  EXPECT_TRUE(check(*executor, 3));
}

TEST_F(WaveTest, TwoProgramsRunInTwoThreadsOnOnePool) {
  auto first = load(20), second = load(1000);
  std::atomic<int> wrong = 0;
  const auto serve = [&](Executor& executor) {
    for (int i = 0; i < 50; ++i) {
      if (!check(executor, 1 + i * 7)) ++wrong;
    }
  };
  std::thread other([&] { serve(*second); });
  serve(*first);
  other.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(WaveTest, AnotherThreadCancels) {
  auto executor = load(1000000);
  std::stop_source source;
  std::thread other([&] {
    while (calls < 100) std::this_thread::yield();
    source.request_stop();
  });
  calls = 0;
  Status status;
  while (status.ok()) status = run(*executor, 1000, {.stop = source.get_token()});
  other.join();
  EXPECT_TRUE(executor->cancelled());
}

}  // namespace
}  // namespace tenon::runtime
