// Where expressions meet: many results, constants on other devices, variables of one name, chains
// that use a tensor twice, plans that read plans.
#include <gtest/gtest.h>

#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

Tensor count_to(int64_t n) { return Tensor::arange(Extent(n)).cast(DType::F32).realize(); }

TEST(Corners, ResultsOfAnyNumberAreToldApart) {
  const Tensor x = count_to(300);
  for (const int k : {1, 257, 256}) {
    const auto parts = (x + 0.5).split(std::vector<int64_t>(300, 1));
    const Tensor part = parts[static_cast<size_t>(k)] * 10.0;
    EXPECT_EQ(part.realize().item<float>(), static_cast<float>(k) * 10 + 5);
  }
}

TEST(Corners, ConstantsGoToOtherDevices) {
  EXPECT_EQ(Tensor::scalar(3, DType::F32).to(Device::Cpu()).realize().item<float>(), 3);
  const Tensor there = Tensor::scalar(4, DType::F32).to(Device::Null());
  EXPECT_EQ((there.to(Device::Cpu()) + 1.0).realize().item<float>(), 5);
}

TEST(Corners, BoundsOfAVariableAreItsOwn) {
  {
    const Variable n("n", 1, 8);
    (Tensor::from<float>({1, 2, 3}, {n.bind(3)}) + 1.0).realize();
  }
  const Variable n("n", 1, 1024);
  const Tensor y = count_to(2000)[Slice{.stop = n.bind(500)}] + 1.0;
  EXPECT_EQ(y.shape()[0].bounds().hi, 1024);
  EXPECT_EQ(y[Slice{.stop = 100}].sum().realize().item<float>(), 5050);
}

TEST(Corners, ALongChainThatUsesATensorTwiceGoesWithoutRecursion) {
  Tensor y = Tensor::from<float>({1});
  for (int i = 0; i < 100'000; ++i) y = y * y;
  y = Tensor();
}

// Along the last axis parts do not lie side by side.
TEST(Corners, ThousandsOfPartsAreJoinedInOrder) {
  constexpr int64_t kParts = 2000;
  std::vector<Tensor> parts;
  Floats expected;
  for (int64_t i = 0; i < kParts; ++i) {
    parts.push_back(Tensor::from(Floats(2, static_cast<float>(i)), {1, 2}));
    expected.insert(expected.end(), 2, static_cast<float>(i));
  }
  for (const int64_t axis : {0, 1}) {
    Tensor joined = Tensor::concat(parts, axis);
    const ExecutionPlan plan = joined.prepare();
    EXPECT_LT(plan.stats().kernels, kParts / 8);
    EXPECT_EQ(Tensor::concat(parts, axis).realize().as_vec<float>(), expected);
  }
}

TEST(Corners, EmptyTensorsKeepTheirVariables) {
  const Variable n("n", 1, 8);
  const Tensor nothing = Tensor::zeros({n.bind(5), 0}), sums = nothing.sum({1});
  nothing.realize();
  EXPECT_EQ(nothing.extents(), (std::vector<int64_t>{5, 0}));
  EXPECT_EQ(sums.realize().as_vec<float>(), Floats(5, 0.0F));
}

TEST(Corners, AVariableWithTwoValuesIsFoundWhereverItIsBound) {
  const Variable n("n", 1, 8);
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5}, {n.bind(5)});
  const Tensor other = count_to(8)[Slice{.stop = n.bind(3)}];
  const std::string seven = "the variable \"n\" is bound to 5 and to 7";
  EXPECT_EQ(user_error_of([&] { x.reshape({n.bind(7)}); }), "[reshape] " + seven);
  EXPECT_EQ(user_error_of([&] { x.shrink({{0, n.bind(7)}}); }), "[shrink] " + seven);
  EXPECT_EQ(user_error_of([&] { realize_batch({x, other}); }),
            "[realize] the variable \"n\" is bound to 5 and to 3");
  Tensor first = x, second = other;
  EXPECT_EQ(user_error_of([&] { prepare_batch({&first, &second}); }),
            "[prepare] the variable \"n\" is bound to 5 and to 3");
}

TEST(Corners, BoundValuesThatDoNotFitAreErrorsOfTheCall) {
  const Variable n("n", -8, 1024);
  EXPECT_EQ(user_error_of([&] { count_to(50).shrink({{0, n.bind(100)}}); }),
            "[shrink] axis 0 slice leaves the tensor: f32[50]: needs n <= 50, but has 100 and 50");
  EXPECT_EQ(user_error_of([&] { Tensor::zeros({n.bind(-4)}); }),
            "[zeros] an extent is negative: f32[]: needs 0 <= n, but has 0 and -4");
}

TEST(Corners, APlanOfAPlansOutputHasThatsExtents) {
  const Variable n("n", 1, 8);
  const Tensor x = count_to(8);
  Tensor a = x[Slice{.stop = n.bind(7)}] * 2.0;
  ExecutionPlan first = a.prepare();
  first.execute();
  Tensor b = a + 1.0;
  ExecutionPlan second = b.prepare();
  first.execute_with_vars({{"n", 3}});
  second.execute();
  EXPECT_EQ(b.as_vec<float>(), (Floats{1, 3, 5}));
  const Tensor sum = b + x[Slice{.stop = n.bind(3)}];
  EXPECT_EQ(sum.realize().as_vec<float>(), (Floats{1, 4, 7}));
  second.execute_with_vars({{"n", 3}});
  EXPECT_EQ(user_error_of([&] { second.execute_with_vars({{"n", 7}}); }),
            "[execute] \"n\" is 3, an extent of an input f32[n]: it cannot be 7");
}

TEST(Corners, ATensorLiesWhereItWasComputed) {
  const Tensor z = Tensor::zeros({3}) + 1.0;
  z.realize_with({.device = Device::Null()});
  EXPECT_EQ(z.device(), Device::Null());
  EXPECT_EQ((z + 1.0).device(), Device::Null());
}

}  // namespace
}  // namespace tenon
