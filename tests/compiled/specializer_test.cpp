// Specialization without the compiler, so that ThreadSanitizer sees all of it: clones that run
// while code is swapped, code that cannot be made, graphs that go while theirs is pending, bounds.
// The code for given extents jumps into this process, and does what the program's own does.
#include "compiled/specializer.h"

#include <gtest/gtest.h>

#include <atomic>
#include <semaphore>
#include <thread>

#include "base/background_worker.h"
#include "base/error.h"
#include "base/log.h"
#include "base/thread_pool.h"
#include "runtime/cpu/cpu_stream.h"
#include "runtime/executor.h"
#include "runtime/run_owned.h"
#include "tests/compiled/jump_code.h"
#include "tests/runtime/test_program.h"

namespace tenon::compiled {
namespace {

using runtime::Executor;

std::atomic<int> special_calls = 0;
void special_rows(void* const* buffers, const int64_t* dims, void* scratch, int64_t begin,
                  int64_t end, int64_t* fault) {
  ++special_calls;
  runtime::double_rows(buffers, dims, scratch, begin, end, fault);
}

// Of the first kernel; the second keeps its own.
SpecialCode make_special(int kernel, std::span<const int64_t>) {
  if (kernel != 0) return {};
  return {jump_to("special", special_rows), true};
}

struct Subject {
  explicit Subject(const Specialization& options, MakeSpecialCode make = make_special) {
    program = runtime::test_program();
    executor = Executor::with_functions(program, thread_pool(), runtime::test_functions()).take();
    executor->set_param("w", DType::F32, std::vector<int64_t>{1}, &kWeight).throw_if_error();
    specializer =
        std::make_shared<Specializer>(program, executor->code(), options, std::move(make));
    executor->use_variants(specializer);
  }
  std::unique_ptr<Executor> clone() {
    return executor->clone(std::make_shared<runtime::cpu::CpuStream>(thread_pool())).take();
  }

  static constexpr float kWeight = 3;
  std::shared_ptr<const program::Program> program;
  std::unique_ptr<Executor> executor;
  std::shared_ptr<Specializer> specializer;
};

// Whether y = 2 x + 3.
bool run(Executor& executor, int64_t batch, int64_t seq) {
  std::vector<float> x;
  for (int64_t i = 0; i < batch * seq; ++i) x.push_back(static_cast<float>(i % 13));
  const std::vector<int64_t> shape = {batch, seq};
  const runtime::IoView view{x.data(), DType::F32, shape, {}};
  const auto outputs = runtime::run_owned(executor, {&view, 1}).take();
  const auto* y = reinterpret_cast<const float*>(outputs[0].bytes.data());
  for (size_t i = 0; i < x.size(); ++i) {
    if (y[i] != 2 * x[i] + Subject::kWeight) return false;
  }
  return true;
}

int calls_of(Executor& executor, int64_t batch, int64_t seq) {
  const int before = special_calls;
  EXPECT_TRUE(run(executor, batch, seq));
  return special_calls - before;
}

TEST(Specializer, SwapsCodeInBetweenRunsOfClones) {
  constexpr int kThreads = 4, kRuns = 400;
  Subject subject({.after = 3, .cpu_share = 1});
  std::vector<std::unique_ptr<Executor>> clones;
  for (int i = 0; i < kThreads; ++i) clones.push_back(subject.clone());
  std::atomic<int> wrong = 0;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] {
        for (int each = 0; each < kRuns; ++each)
          wrong += !run(*clones[static_cast<size_t>(i)], 1 + each % 5, 1 + (each + i) % 8);
      });
    }
  }
  EXPECT_EQ(wrong, 0);
  subject.specializer->wait();
  const SpecializationStats stats = subject.specializer->stats();
  EXPECT_EQ(stats.pending, 0);
  EXPECT_EQ(stats.failed, 0);
  EXPECT_EQ(stats.shapes, 32);  // of 40 that ran, as many as there may be
  EXPECT_GE(stats.kernels, 32);
  EXPECT_GT(stats.milliseconds, 0);
}

TEST(Specializer, WaitsUntilTheCodeIsThere) {
  Subject subject({.after = 2});
  EXPECT_EQ(calls_of(*subject.executor, 2, 4), 0);
  EXPECT_EQ(subject.specializer->stats().pending, 0);
  EXPECT_EQ(calls_of(*subject.executor, 2, 4), 0);
  subject.specializer->wait();
  EXPECT_EQ(subject.specializer->stats().shapes, 1);
  EXPECT_EQ(subject.specializer->stats().kernels, 1);
  EXPECT_GT(calls_of(*subject.executor, 2, 4), 0);
  EXPECT_GT(calls_of(*subject.clone(), 2, 4), 0);
  EXPECT_EQ(calls_of(*subject.executor, 2, 5), 0);
}

TEST(Specializer, TriesWhatFailsOnceAndSaysWhy) {
  static std::string said;
  set_log_sink([](LogLevel, std::string_view text) { said += text; });
  int tried = 0;
  Subject subject({.after = 1, .most = 4}, [&](int, std::span<const int64_t> dims) {
    ++tried;
    if (dims[0] == 7) throw user_error("no code for 7");
    return SpecialCode{jump_to("special", special_rows), true};
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(calls_of(*subject.executor, 2, 7), 0);
    subject.specializer->wait();
  }
  set_log_sink(nullptr);
  EXPECT_EQ(tried, 1);
  EXPECT_NE(said.find("no code for 7"), std::string::npos) << said;
  EXPECT_EQ(subject.specializer->stats().failed, 1);
  EXPECT_EQ(subject.specializer->stats().shapes, 0);
  run(*subject.executor, 2, 8);
  subject.specializer->wait();
  EXPECT_EQ(subject.specializer->stats().shapes, 1);
}

TEST(Specializer, RefusesCodeThatDoesNotMatchItsDigest) {
  set_log_sink([](LogLevel, std::string_view) {});
  Subject subject({.after = 1}, [](int, std::span<const int64_t>) {
    auto damaged = std::make_shared<program::Code>(*jump_to("special", special_rows));
    damaged->bytes[3] ^= std::byte{1};
    return SpecialCode{damaged, true};
  });
  run(*subject.executor, 2, 4);
  subject.specializer->wait();
  set_log_sink(nullptr);
  EXPECT_EQ(subject.specializer->stats().failed, 1);
  EXPECT_EQ(calls_of(*subject.executor, 2, 4), 0);
}

TEST(Specializer, MayGoWhileItsCodeIsPending) {
  std::binary_semaphore begun(0), go_on(0);
  const auto held = std::make_shared<int>(0);
  auto subject = std::make_unique<Subject>(Specialization{.after = 1},
                                           [&, held](int kernel, std::span<const int64_t> dims) {
                                             begun.release();
                                             go_on.acquire();
                                             return make_special(kernel, dims);
                                           });
  run(*subject->executor, 2, 4);
  run(*subject->executor, 2, 5);
  begun.acquire();
  EXPECT_EQ(subject->specializer->stats().pending, 2);
  subject.reset();
  EXPECT_EQ(held.use_count(), 2);  // by the piece in hand
  go_on.release();
  std::binary_semaphore after(0);
  run_in_background({[&] { return after.release(), false; }});
  after.acquire();
  EXPECT_EQ(held.use_count(), 1);  // and nothing else was made
}

TEST(Specializer, KeepsNoMoreThanItMay) {
  Subject subject({.after = 1, .cpu_share = 1, .most = 3});
  for (int64_t seq = 1; seq <= 10; ++seq) {
    run(*subject.executor, 1, seq);
    subject.specializer->wait();
    EXPECT_LE(subject.specializer->stats().shapes, 3);
  }
  EXPECT_GT(calls_of(*subject.executor, 1, 10), 0);
  EXPECT_EQ(calls_of(*subject.executor, 1, 1), 0);
  subject.specializer->wait();
  EXPECT_GT(calls_of(*subject.executor, 1, 1), 0);  // made again
}

TEST(Specializer, LeavesAloneWhatHasNoUseForIt) {
  program::Program program = *runtime::test_program();
  EXPECT_EQ(why_not_special(program), "");
  program::Program elsewhere = program, by_data = program, with_state = program, fixed = program;
  elsewhere.device = program::DeviceKind::Cuda;
  by_data.host_steps.emplace_back();
  with_state.inputs[0].state = program::StateSlot{};
  for (program::Step& step : fixed.steps) step.dims.clear();
  for (const program::Program& each : {elsewhere, by_data, with_state, fixed})
    EXPECT_NE(why_not_special(each), "");
}

}  // namespace
}  // namespace tenon::compiled
