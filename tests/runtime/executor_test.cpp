// The executor on programs of hand-written kernels: values at many shapes and capacities,
// parameters, faults, and every mistake a caller can make about shapes. Expected values are
// arithmetic: y = 2 x + w.
#include "runtime/executor.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "tests/runtime/test_program.h"

namespace tenon::runtime {
namespace {

class ExecutorTest : public ::testing::Test {
 protected:
  void load(std::shared_ptr<Program> program,
            std::vector<program::KernelFunction> functions = test_functions()) {
    auto loaded = Executor::with_functions(std::move(program), pool_, std::move(functions));
    ASSERT_TRUE(loaded.ok()) << loaded.error().what();
    executor_ = std::move(loaded.value());
  }

  void set_weight(float w) {
    const int64_t shape[] = {1};
    ASSERT_TRUE(executor_->set_param("w", DType::F32, shape, &w).ok());
  }

  // Runs x = 0, 1, 2 ... in memory of the given capacities and checks every element of y, and that
  // y's padding is kept.
  void check_run(int64_t batch, int64_t seq, int64_t x_capacity, int64_t y_capacity, float w) {
    std::vector<float> x(batch * x_capacity, -1), y(batch * y_capacity, -5);
    for (int64_t i = 0; i < batch * seq; ++i)
      x[i / seq * x_capacity + i % seq] = static_cast<float>(i);
    const std::vector<int64_t> shape = {batch, seq}, xc = {batch, x_capacity},
                               yc = {batch, y_capacity};
    const IoView in[] = {{x.data(), DType::F32, shape, xc}},
                 out[] = {{y.data(), DType::F32, shape, yc}};
    Status status = executor_->bind(in);
    ASSERT_TRUE(status.ok()) << status.error().what();
    status = executor_->execute(out);
    ASSERT_TRUE(status.ok()) << status.error().what();
    for (int64_t row = 0; row < batch; ++row) {
      for (int64_t column = 0; column < y_capacity; ++column) {
        const float expected = column < seq ? 2 * static_cast<float>(row * seq + column) + w : -5;
        ASSERT_EQ(y[row * y_capacity + column], expected) << row << ", " << column;
      }
    }
  }

  std::string bind_error(std::vector<int64_t> shape, DType dtype = DType::F32,
                         std::vector<int64_t> capacity = {}) {
    float x = 0;
    const IoView in[] = {{&x, dtype, shape, capacity}};
    const Status status = executor_->bind(in);
    return status.ok() ? "" : status.error().what();
  }

  std::unique_ptr<ThreadPool> owner_ = make_worker_pool({.max_threads = 2});
  ThreadPool& pool_ = *owner_;
  std::unique_ptr<Executor> executor_;
};

TEST_F(ExecutorTest, ComputesTheSameFunctionAtEveryShape) {
  load(test_program());
  set_weight(3);
  for (const auto& [batch, seq] : {std::pair{1, 1}, {4, 7}, {100, 512}, {1, 1}, {3, 300}}) {
    check_run(batch, seq, seq, seq, 3);
  }
}

TEST_F(ExecutorTest, CapacityMayExceedTheExtent) {
  load(test_program());
  set_weight(1);
  check_run(5, 3, 8, 3, 1);
  check_run(5, 3, 3, 16, 1);
  check_run(5, 3, 9, 4, 1);
}

TEST_F(ExecutorTest, LargeStepsRunOnSeveralThreadsWithTheSameResult) {
  load(test_program(512, 100000));
  set_weight(2);
  for (int threads : {1, 2, 1, 2}) {
    executor_->set_threads(threads);
    check_run(64, 128, 128, 128, 2);
  }
  EXPECT_EQ(executor_->flops(), int64_t{2} * 64 * 128 * 100000);
}

TEST_F(ExecutorTest, ANewParameterHoldsFromTheNextRun) {
  load(test_program());
  set_weight(1);
  check_run(2, 2, 2, 2, 1);
  set_weight(10);
  check_run(2, 2, 2, 2, 10);
}

TEST_F(ExecutorTest, AnUnsetParameterIsAnError) {
  load(test_program());
  EXPECT_EQ(bind_error({1, 1}), "");
  float y = 0;
  const int64_t shape[] = {1, 1};
  const IoView out[] = {{&y, DType::F32, shape, {}}};
  const Status status = executor_->execute(out);
  ASSERT_FALSE(status.ok());
  EXPECT_STREQ(status.error().what(),
               "parameter \"w\" is not set: call set_param before the first run");
}

TEST_F(ExecutorTest, ParametersOfAnotherTypeOrNameAreErrors) {
  load(test_program());
  const double value = 1;
  const int64_t one[] = {1}, two[] = {2};
  EXPECT_STREQ(executor_->set_param("w", DType::F64, one, &value).error().what(),
               "parameter \"w\" is f32[1], but the value is f64[1]");
  EXPECT_STREQ(executor_->set_param("w", DType::F32, two, &value).error().what(),
               "parameter \"w\" is f32[1], but the value is f32[2]");
  EXPECT_STREQ(executor_->set_param("v", DType::F32, one, &value).error().what(),
               "the model has no parameter \"v\"");
}

TEST_F(ExecutorTest, ExtentsOutsideTheirBoundsAreNamed) {
  load(test_program());
  EXPECT_EQ(bind_error({1, 600}), "extent seq = 600 of input \"x\" is outside its bounds 1..512");
  EXPECT_EQ(bind_error({1, 0}), "extent seq = 0 of input \"x\" is outside its bounds 1..512");
  EXPECT_EQ(bind_error({1, -1}), "extent seq = -1 of input \"x\" is outside its bounds 1..512");
}

TEST_F(ExecutorTest, WrongRanksDtypesAndCapacitiesAreNamed) {
  load(test_program());
  EXPECT_EQ(bind_error({1}), "input \"x\" has shape [1] of rank 1, expected f32[batch, seq]");
  EXPECT_EQ(bind_error({1, 1}, DType::I32), "input \"x\" is i32, expected f32[batch, seq]");
  EXPECT_EQ(bind_error({1, 4}, DType::F32, {1, 3}),
            "input \"x\": capacity 3 of axis 1 is below its extent 4");
  EXPECT_EQ(bind_error({1, 4}, DType::F32, {4}), "input \"x\" has shape [1, 4] but capacity [4]");
}

TEST_F(ExecutorTest, AnErrorLeavesTheExecutorUsable) {
  load(test_program());
  set_weight(3);
  check_run(2, 5, 5, 5, 3);
  EXPECT_NE(bind_error({7, 600}), "");
  check_run(2, 5, 5, 5, 3);
}

TEST_F(ExecutorTest, InputsThatDisagreeAboutAnExtentAreNamed) {
  auto program = test_program();
  program->inputs.push_back(io_slot("z", program->symbols[0], program->symbols[1]));
  load(program);
  float data = 0;
  const int64_t a[] = {2, 4}, b[] = {2, 5};
  const IoView in[] = {{&data, DType::F32, a, {}}, {&data, DType::F32, b, {}}};
  EXPECT_STREQ(executor_->bind(in).error().what(),
               "extent seq is 4 in input \"x\" but 5 in input \"z\"");
}

TEST_F(ExecutorTest, ConstraintsOfTheModelAreChecked) {
  auto program = test_program();
  program->constraints.push_back(
      {Constraint::Kind::AtMost, program->symbols[1], Dim(100), "[slice] positions"});
  load(program);
  EXPECT_EQ(bind_error({1, 100}), "");
  const std::string message = bind_error({1, 101});
  EXPECT_NE(message.find("[slice] positions"), std::string::npos) << message;
  EXPECT_NE(message.find("101 and 100"), std::string::npos) << message;
}

TEST_F(ExecutorTest, OutputsOfAnotherShapeAreNamed) {
  load(test_program());
  set_weight(1);
  ASSERT_EQ(bind_error({2, 3}), "");
  float y = 0;
  const int64_t shape[] = {2, 4};
  const IoView out[] = {{&y, DType::F32, shape, {}}};
  EXPECT_STREQ(executor_->execute(out).error().what(),
               "output \"y\" has shape [2, 4], expected [2, 3]");
}

TEST_F(ExecutorTest, AFaultEndsTheRunAndNamesTheStep) {
  load(test_program(), {faulty_rows, add_weight, pack_weight});
  set_weight(1);
  std::vector<float> x(8), y(8);
  const int64_t shape[] = {8, 1};
  const IoView in[] = {{x.data(), DType::F32, shape, {}}},
               out[] = {{y.data(), DType::F32, shape, {}}};
  ASSERT_TRUE(executor_->bind(in).ok());
  const Status status = executor_->execute(out);
  ASSERT_FALSE(status.ok());
  EXPECT_STREQ(status.error().what(),
               "[elementwise] double: index 7 lies outside 0..4 of input \"x\"");
  check_run(2, 1, 1, 1, 1);  // without row 3: no fault is left over
}

TEST_F(ExecutorTest, ASymbolThatNoInputHasIsRejectedWhenLoaded) {
  auto program = test_program();
  program->symbols.emplace_back("past");
  auto loaded = Executor::with_functions(program, pool_, test_functions());
  ASSERT_FALSE(loaded.ok());
  EXPECT_STREQ(loaded.error().what(), "extent past is not an axis of any input");
}

TEST_F(ExecutorTest, DamagedProgramsAreRejectedWhenLoaded) {
  auto damaged = [&](const std::function<void(Program&)>& damage) {
    auto program = test_program();
    damage(*program);
    return Executor::with_functions(program, pool_, test_functions()).ok();
  };
  EXPECT_FALSE(damaged([](Program& p) { p.steps[0].code = 3; }));
  EXPECT_FALSE(damaged([](Program& p) { p.steps[0].buffers[0].index = 1; }));
  EXPECT_FALSE(damaged([](Program& p) { p.steps[0].writes.pop_back(); }));
  EXPECT_FALSE(damaged([](Program& p) { p.steps[0].writes[0] = true; }));  // an input
  EXPECT_FALSE(
      damaged([](Program& p) { p.steps[1].writes[1] = true; }));  // packed, outside the prologue
  EXPECT_FALSE(damaged([](Program& p) { p.arena[0].slot = 1; }));
  EXPECT_FALSE(damaged([](Program& p) { p.steps.pop_back(); }));  // nothing writes y
  EXPECT_FALSE(damaged([](Program& p) { p.inputs[0].strides.pop_back(); }));
  EXPECT_FALSE(damaged([](Program& p) { p.steps[0].grid = Dim(Symbol("nobody")); }));
}

TEST_F(ExecutorTest, CodeThatDoesNotMatchItsDigestIsRejected) {
  auto loaded = Executor::load(test_program(), pool_);
  ASSERT_FALSE(loaded.ok());
  EXPECT_STREQ(loaded.error().what(),
               "[double] the machine code does not match its digest: the artifact is damaged");
}

}  // namespace
}  // namespace tenon::runtime
