// Execution plans: what tensors read from them, variables, replicas, devices and statistics.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;
Floats read(const Tensor& tensor) { return tensor.as_vec<float>(); }

TEST(Plan, IsReadByTheTensorsItWasMadeOf) {
  Floats data = {1, 2, 3};
  const Tensor x = Tensor::wrap(data.data(), DType::F32, {3});
  Tensor y = x * 2.0;
  ExecutionPlan plan = y.prepare();
  EXPECT_EQ(user_error_of([&] { read(y); }),
            "[as_vec] the tensor is the output of a plan that was not executed yet");
  plan.execute();
  EXPECT_EQ(read(y), (Floats{2, 4, 6}));
  data = {5, 5, 5};
  EXPECT_EQ(read(y), (Floats{2, 4, 6}));
  plan.execute();
  EXPECT_EQ(read(y), (Floats{10, 10, 10}));
}

TEST(Plan, LeavesOtherHandlesOfTheExpressionAlone) {
  const Tensor x = Tensor::from<float>({1, 2});
  const Tensor y = x + 1.0, later = y * 2.0;
  Tensor handle = y;
  ExecutionPlan plan = handle.prepare();
  EXPECT_EQ(read(later.realize()), (Floats{4, 6}));
  EXPECT_FALSE(handle.is_realized());
}

TEST(Plan, OfNothingLeftIsAnError) {
  Tensor y = Tensor::from<float>({1}) + 1.0;
  y.realize();
  Tensor none = Tensor::zeros({0});
  EXPECT_EQ(user_error_of([&] { prepare_batch({&y, &none}); }),
            "[prepare] empty schedule: every tensor has its elements already");
  EXPECT_EQ(user_error_of([&] { prepare_batch({nullptr}); }), "[prepare] a tensor is null");
}

TEST(Plan, HasOutputsInTheOrderOfWhatIsNotRealized) {
  const Tensor x = Tensor::from<float>({1, 2});
  Tensor a = x + 1.0, done = x + 2.0, b = x + 3.0;
  done.realize();
  ExecutionPlan plan = prepare_batch({&a, &done, &b});
  plan.execute();
  EXPECT_EQ(plan.num_outputs(), 2);
  EXPECT_EQ(read(plan.output_buffer(0)), (Floats{2, 3}));
  EXPECT_EQ(read(plan.output_buffer(1)), (Floats{4, 5}));
  EXPECT_EQ(user_error_of([&] { plan.output_buffer(2); }),
            "[output_buffer] there is no output 2: the plan has 2");
}

TEST(Plan, TakesOtherValuesOfVariablesForOneCall) {
  const Variable n("n", 1, 8);
  Tensor sum = Tensor::arange(Extent(8)).shrink({{0, n.bind(3)}}).sum();
  ExecutionPlan plan = sum.prepare();
  EXPECT_EQ(plan.variables(), (VariableValues{{"n", 3}}));
  plan.execute_with_vars({{"n", 8}});
  EXPECT_EQ(sum.item<int64_t>(), 28);
  plan.execute();
  EXPECT_EQ(sum.item<int64_t>(), 3);
  EXPECT_EQ(user_error_of([&] { plan.execute_with_vars({{"n", 9}}); }),
            "[execute] \"n\" = 9 is outside of its bounds 1..8");
  EXPECT_EQ(user_error_of([&] { plan.execute_with_vars({{"m", 1}}); }),
            "[execute] there is no variable \"m\" in the plan");
  EXPECT_EQ(sum.item<int64_t>(), 3);
}

TEST(Plan, OutputsHaveTheExtentsOfTheirExecution) {
  const Variable n("n", 1, 8);
  Tensor rows = Tensor::arange(Extent(8)).shrink({{0, n.bind(2)}}) * 10;
  ExecutionPlan plan = rows.prepare();
  for (const int64_t count : {2, 5, 1}) {
    plan.execute_with_vars({{"n", count}});
    EXPECT_EQ(rows.extents(), std::vector<int64_t>{count});
    EXPECT_EQ(rows.as_vec<int64_t>().back(), (count - 1) * 10);
  }
}

TEST(Plan, RefusesAnotherExtentOfMemoryThatIsThere) {
  const Variable n("n", 1, 8);
  const Tensor x = Tensor::from<float>({1, 2, 3}, {n.bind(3)});
  Tensor y = x + 1.0;
  ExecutionPlan plan = y.prepare();
  EXPECT_EQ(user_error_of([&] { plan.execute_with_vars({{"n", 4}}); }),
            "[execute] \"n\" is 3, an extent of an input f32[n]: it cannot be 4");
  plan.execute_with_vars({{"n", 3}});
  EXPECT_EQ(read(y), (Floats{2, 3, 4}));
}

TEST(Plan, KeepsItsInputsAsLongAsItLives) {
  auto owner = std::make_shared<Floats>(Floats{1, 2});
  const std::weak_ptr<Floats> watched = owner;
  std::optional<ExecutionPlan> plan;
  Tensor y;
  {
    y = Tensor::wrap(owner->data(), DType::F32, {2}, owner) * 3.0;
    plan = y.prepare();
    owner.reset();
  }
  for (int run = 0; run < 2; ++run) {
    plan->execute();
    EXPECT_EQ(read(y), (Floats{3, 6}));
    EXPECT_FALSE(watched.expired());
  }
  plan.reset();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(read(y), (Floats{3, 6}));  // the output is of who reads it
}

// Kernels have counters and arguments with names of their own.
TEST(Plan, HasNoVariablesButThoseOfTheCaller) {
  const Variable n("n", 1, 8);
  Tensor y = Tensor::ones({n.bind(3), 8}).softmax().cumsum(0).sum();
  ExecutionPlan plan = y.prepare();
  EXPECT_EQ(plan.variables(), (VariableValues{{"n", 3}}));
  for (const std::string name : {"i", "i0", "i1", "r0", "j", "k", "n_0", "in0", "out0", "N", ""}) {
    EXPECT_EQ(user_error_of([&] { plan.execute_with_vars({{name, 1}}); }),
              "[execute] there is no variable \"" + name + "\" in the plan");
  }
}

TEST(Plan, OfTheLargestElementNeedsOneInEachExecution) {
  const Variable m("m", 0, 8);
  const Tensor x = Tensor::from<float>({3, 1, 2});
  Tensor most = x[Slice{.stop = m.bind(2)}].max();
  ExecutionPlan plan = most.prepare();
  EXPECT_EQ(user_error_of([&] { plan.execute_with_vars({{"m", 0}}); }),
            "[max] there is no element: f32[min(m, 3)]");
  plan.execute();
  EXPECT_EQ(most.item<float>(), 3);
  Tensor rows = Tensor::ones({m.bind(2), 3}).max({1});
  ExecutionPlan of_rows = rows.prepare();
  of_rows.execute_with_vars({{"m", 0}});
  EXPECT_TRUE(read(rows).empty());
}

TEST(Plan, ReplicasShareInputsAndHaveTheirOwnOutputs) {
  Floats data = {1};
  Tensor y = Tensor::wrap(data.data(), DType::F32, {1}) + 1.0;
  ExecutionPlan plan = y.prepare();
  ExecutionPlan replica = plan.replicate();
  plan.execute();
  data = {5};
  replica.execute();
  EXPECT_EQ(y.item<float>(), 2);
  EXPECT_EQ(replica.output_buffer(0).item<float>(), 6);
}

TEST(Plan, OfAPlansOutputComputesWithTheNewest) {
  Floats data = {1};
  Tensor first = Tensor::wrap(data.data(), DType::F32, {1}) + 1.0;
  ExecutionPlan plan = first.prepare();
  Tensor early = first * 10.0;
  EXPECT_EQ(user_error_of([&] { early.realize(); }),
            "[realize] an operand is the output of a plan that was not executed yet");
  plan.execute();
  Tensor second = first * 10.0;
  ExecutionPlan next = second.prepare();
  next.execute();
  EXPECT_EQ(second.item<float>(), 20);
  data = {2};
  plan.execute();
  next.execute();
  EXPECT_EQ(second.item<float>(), 30);
}

TEST(Plan, MovedFromHasNothing) {
  Tensor y = Tensor::from<float>({1}) + 1.0;
  ExecutionPlan plan = y.prepare();
  ExecutionPlan taken = std::move(plan);
  EXPECT_EQ(user_error_of([&] { plan.execute(); }),  // NOLINT(bugprone-use-after-move)
            "this ExecutionPlan was moved from: there is nothing in it");
  taken.execute();
  EXPECT_EQ(y.item<float>(), 2);
}

TEST(Plan, ModesOfThePlannerShowInItsStatistics) {
  const auto stats = [](PlanMode mode) {
    Tensor x = Tensor::from(Floats(4096, 0.5F), {64, 64});
    for (int i = 0; i < 4; ++i) x = x.matmul(x).softmax();
    ExecutionPlan plan = x.prepare_with({.planner = mode, .schedule_cache = false});
    plan.execute();
    return plan.stats();
  };
  const PlanStats arena = stats(PlanMode::Arena), none = stats(PlanMode::Disabled);
  EXPECT_EQ(none.arena_bytes, none.unshared_bytes);
  EXPECT_LT(arena.arena_bytes, arena.unshared_bytes);
  EXPECT_LT(arena.arena_bytes, none.arena_bytes);
  EXPECT_LE(stats(PlanMode::Remap).arena_bytes, none.arena_bytes);
  EXPECT_GE(arena.kernels, 8);
  EXPECT_FALSE(arena.from_cache);
}

TEST(Plan, CopiesBetweenDevices) {
  const Tensor x = Tensor::from<float>({1, 2}) + 1.0;
  const Tensor there = x.to(Device::Null());
  EXPECT_EQ(there.device(), Device::Null());
  Tensor back = (there.to(Device::Cpu()) * 2.0);
  ExecutionPlan plan = back.prepare();
  EXPECT_EQ(plan.stats().copies, 2);
  plan.execute();
  EXPECT_EQ(read(back), (Floats{4, 6}));
}

TEST(Plan, RunsWhereItsFirstOperandLies) {
  const Tensor here = Tensor::from<float>({1, 2});
  const Tensor there = Tensor::from<float>({3, 4}).to(Device::Null());
  EXPECT_EQ((there + here).device(), Device::Null());
  EXPECT_EQ((here + there).device(), Device::Cpu());
  EXPECT_EQ(read((here + there).realize()), (Floats{4, 6}));
  Tensor mixed = there + here;
  const ExecutionPlan plan = mixed.prepare();
  const auto steps = plan.steps();
  EXPECT_TRUE(std::ranges::any_of(steps, [](const PlanStep& step) {
    return step.kind == PlanStep::Kind::Kernel && step.device == Device::Null();
  }));
}

TEST(Plan, ADeviceThatIsNotThereIsAnError) {
  const Tensor x = Tensor::from<float>({1}).to(Device::Cuda(77));
  EXPECT_NE(user_error_of([&] { x.realize(); }).find("cuda:77 is not available"),
            std::string::npos);
}

}  // namespace
}  // namespace tenon
