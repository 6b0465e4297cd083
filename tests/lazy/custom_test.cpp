// Functions of the user's in lazy expressions.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "lazy/schedule_cache.h"
#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

// y = x times its first dim, or times 2; counts its calls.
struct Scale {
  std::shared_ptr<std::atomic<int>> calls = std::make_shared<std::atomic<int>>(0);
  CustomFunction function{
      "scale", [](auto inputs, auto) { return std::vector<TensorType>{inputs[0]}; },
      [calls = calls](const CustomCall& call) {
        ++*calls;
        const float by = call.dims.empty() ? 2.0F : static_cast<float>(call.dims[0]);
        const auto x = call.input<float>(0);
        std::ranges::transform(x, call.output<float>(0).begin(), [=](float v) { return v * by; });
      }};
};

TEST(CustomInTensors, IsCalledBetweenKernelsWhenItIsRealized) {
  const Scale scale;
  const Tensor x = Tensor::from<float>({1, 2, 3});
  const Tensor y = Tensor::custom(scale.function, {x + 1.0})[0] - 1.0;
  EXPECT_EQ(*scale.calls, 0);
  EXPECT_EQ(y.realize().as_vec<float>(), (Floats{3, 5, 7}));
  EXPECT_EQ(*scale.calls, 1);
}

TEST(CustomInTensors, EachApplicationIsACall) {
  const Scale scale;
  const Tensor x = Tensor::from<float>({1});
  const Tensor a = Tensor::custom(scale.function, {x})[0],
               b = Tensor::custom(scale.function, {x})[0];
  EXPECT_EQ((a + b).realize().item<float>(), 4);
  EXPECT_EQ(*scale.calls, 2);
  EXPECT_EQ((a + a).realize().item<float>(), 4);
  EXPECT_EQ(*scale.calls, 3);
}

TEST(CustomInTensors, AnEqualExpressionIsNotCompiledAgain) {
  const Scale scale;
  const auto make = [&](float value) {
    return Tensor::custom(scale.function, {Tensor::from<float>({value})})[0] + 1.0;
  };
  make(1).realize();
  const int64_t before = lazy::schedule_cache_stats().compiled;
  EXPECT_EQ(make(5).realize().item<float>(), 11);
  EXPECT_EQ(lazy::schedule_cache_stats().compiled, before);
}

TEST(CustomInTensors, DimsHaveTheirValuesOfEachExecution) {
  const Scale scale;
  const Variable n("n", 1, 100);
  Tensor y = Tensor::custom(scale.function, {Tensor::from<float>({1, 2})}, {n.bind(3) + 1})[0];
  ExecutionPlan plan = y.prepare();
  plan.execute();
  EXPECT_EQ(y.as_vec<float>(), (Floats{4, 8}));
  plan.execute_with_vars({{"n", 9}});
  EXPECT_EQ(y.as_vec<float>(), (Floats{10, 20}));
  EXPECT_EQ(plan.stats().custom_functions, 1);
  const auto steps = plan.steps();
  EXPECT_TRUE(std::ranges::any_of(steps, [](const PlanStep& step) {
    return step.kind == PlanStep::Kind::Custom && step.what == "scale";
  }));
}

TEST(CustomInTensors, ShapesAreThoseOfTheRuleAndErrorsName) {
  const CustomFunction bad(
      "bad", [](auto inputs, auto) { return std::vector<TensorType>{{{2}, inputs[0].dtype}}; },
      [](const CustomCall&) { throw std::runtime_error("no luck"); });
  const Tensor y = Tensor::custom(bad, {Tensor::from<float>({1, 2, 3})})[0];
  EXPECT_EQ(y.type().to_string(), "f32[2]");
  EXPECT_NE(error_of([&] { y.realize(); }).find("no luck"), std::string::npos);
  EXPECT_FALSE(y.is_realized());
}

}  // namespace
}  // namespace tenon
