// Runs on the fake driver. Expected values are arithmetic: y = 2 x + w.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/executor.h"
#include "tests/runtime/fake_cuda.h"
#include "tests/runtime/test_program.h"

namespace tenon::runtime::cuda {

// The driver's counters begin at 0, and everything that was allocated is released.
class CudaTest : public ::testing::Test {
 protected:
  CudaTest() {
    fake_.launches = fake_.replays = fake_.recordings = fake_.sends = fake_.modules = 0;
    fake_.pinned_allocations = fake_.stream_waits = fake_.event_waits = 0;
    fake_.most_blocks = 0;
    before_ = fake_.live_allocations();
  }
  ~CudaTest() override {
    executor_.reset();
    EXPECT_EQ(fake_.live_allocations(), before_);
    fake_.capability_major = 9;
    fake_.memory_pools = 1;
    fake_.fail_allocations_from = -1;
  }

  static std::shared_ptr<const Program> program(
      std::vector<program::KernelFunction> functions = test_functions()) {
    return for_fake_cuda(*test_program(), functions);
  }
  static std::unique_ptr<Executor> load_one(std::shared_ptr<const Program> program,
                                            const StreamOptions& options = {}) {
    return Executor::load(std::move(program), FakeCuda::stream(options)).take();
  }
  void load(std::shared_ptr<const Program> program = CudaTest::program(),
            const StreamOptions& options = {}) {
    executor_ = load_one(std::move(program), options);
  }

  static void set_weight(Executor& executor, float w) {
    const int64_t shape[] = {1};
    ASSERT_TRUE(executor.set_param("w", DType::F32, shape, &w).ok());
  }
  void set_weight(float w) { set_weight(*executor_, w); }

  // x = 0, 1, 2 ... and what became of it.
  struct Run {
    Run(int64_t batch, int64_t seq, int64_t x_capacity, int64_t y_capacity)
        : shape{batch, seq}, xc{batch, x_capacity}, yc{batch, y_capacity} {
      x.assign(static_cast<size_t>(batch * x_capacity), -1);
      y.assign(static_cast<size_t>(batch * y_capacity), -5);
      for (int64_t i = 0; i < batch * seq; ++i)
        x[static_cast<size_t>(i / seq * x_capacity + i % seq)] = static_cast<float>(i);
    }
    std::vector<IoView> in() { return {{x.data(), DType::F32, shape, xc}}; }
    std::vector<IoView> out() { return {{y.data(), DType::F32, shape, yc}}; }
    void expect(float w) const {
      for (int64_t i = 0; i < static_cast<int64_t>(y.size()); ++i) {
        const int64_t row = i / yc[1], column = i % yc[1];
        const float wanted =
            column < shape[1] ? 2 * static_cast<float>(row * shape[1] + column) + w : -5;
        ASSERT_EQ(y[static_cast<size_t>(i)], wanted) << row << ", " << column;
      }
    }
    std::vector<int64_t> shape, xc, yc;
    std::vector<float> x, y;
  };
  static void check_run(Executor& executor, int64_t batch, int64_t seq, int64_t xc, int64_t yc,
                        float w) {
    Run run(batch, seq, xc, yc);
    Status status = executor.bind(run.in());
    ASSERT_TRUE(status.ok()) << status.error().what();
    status = executor.execute(run.out());
    ASSERT_TRUE(status.ok()) << status.error().what();
    run.expect(w);
  }
  void check_run(int64_t batch, int64_t seq, float w) {
    check_run(*executor_, batch, seq, seq, seq, w);
  }

  FakeCuda& fake_ = FakeCuda::get();
  std::unique_ptr<Executor> executor_;
  size_t before_ = 0;
};

}  // namespace tenon::runtime::cuda
