// What realize promises: nothing runs before it, nothing is computed twice, what is shared is
// shared, and nobody's tensor changes under him.
#include <gtest/gtest.h>

#include "lazy/expression.h"
#include "lazy/schedule_cache.h"
#include "tenon/lazy_tensor.h"
#include "tests/error_of.h"

namespace tenon {
namespace {

using Floats = std::vector<float>;

Tensor vector(const Floats& values) { return Tensor::from(values); }
Floats read(const Tensor& tensor) { return tensor.as_vec<float>(); }
int64_t compiles() { return lazy::schedule_cache_stats().compiled; }
const void* memory(const Tensor& tensor) { return tensor.array_view<float>().data(); }

TEST(Realize, ComputesWhatWasWritten) {
  const Tensor x = Tensor::from<float>({1, 2, 3, 4, 5, 6}, {2, 3});
  const Tensor y = (x * 2.0 + 1.0).sum({1});
  EXPECT_FALSE(y.is_realized());
  EXPECT_EQ(user_error_of([&] { y.as_vec<float>(); }),
            "[as_vec] the tensor is not realized: f32[2]");
  EXPECT_EQ(read(y.realize()), (Floats{15, 33}));
  EXPECT_TRUE(y.is_realized());
}

TEST(Realize, DoesNotComputeAgain) {
  const Tensor y = vector({1, 2}) + 1.0;
  y.realize();
  const void* before = memory(y);
  y.realize();
  realize_batch({y, y});
  EXPECT_EQ(memory(y), before);
}

TEST(Realize, TensorsBuiltBeforeReuseTheBuffer) {
  const Tensor x = vector({1, 2, 3});
  const Tensor y = x + 1.0, z = y * 10.0;
  y.realize();
  const int64_t before = compiles();
  z.realize();
  const Tensor same = vector({7, 7, 7}) * 10.0;  // what is left of z: one product
  same.realize();
  EXPECT_EQ(compiles(), before + 1);
  EXPECT_EQ(read(z), (Floats{20, 30, 40}));
}

TEST(Realize, LetsGoOfWhatItWasMadeOf) {
  auto owner = std::make_shared<Floats>(Floats{1, 2});
  const std::weak_ptr<Floats> watched = owner;
  Tensor y = Tensor::wrap(owner->data(), DType::F32, {2}, owner) * 3.0;
  owner.reset();
  EXPECT_FALSE(watched.expired());
  y.realize();
  EXPECT_TRUE(watched.expired());
  EXPECT_EQ(read(y), (Floats{3, 6}));
}

TEST(Realize, KeepsInputs) {
  const Tensor x = vector({1, 2}), y = x + 1.0;
  y.realize();
  EXPECT_EQ(read(x), (Floats{1, 2}));
}

TEST(Realize, OfABatchSharesWorkAndTakesWhatIsThere) {
  const Tensor x = vector({4, 9}), root = x.sqrt();
  const Tensor a = root + 1.0, b = root * 2.0, done = x + 0.0, nothing = Tensor::zeros({0, 3});
  done.realize();
  realize_batch({a, b, done, nothing, x, Tensor::scalar(5, DType::F32)});
  EXPECT_EQ(read(a), (Floats{3, 4}));
  EXPECT_EQ(read(b), (Floats{4, 6}));
  EXPECT_EQ(nothing.extents(), (std::vector<int64_t>{0, 3}));
  EXPECT_TRUE(read(nothing).empty());
  Tensor c = x.sqrt() + 1.0, d = x.sqrt() * 2.0;
  EXPECT_EQ(prepare_batch({&c, &d}).stats().kernels, 3);  // the root once, and who reads it
}

TEST(Realize, OfConstantsAndNothing) {
  EXPECT_EQ(Tensor::scalar(2.5, DType::F32).realize().item<float>(), 2.5F);
  EXPECT_EQ(read(Tensor::full({2, 2}, 7).realize()), (Floats{7, 7, 7, 7}));
  realize_batch({});
}

TEST(Realize, TakesAChainOfAnyLength) {
  Tensor x = vector({0});
  for (int i = 0; i < 100'000; ++i) x = x + 1.0;
  x = Tensor();  // goes without recursion
  Tensor y = vector({0});
  for (int i = 0; i < 2'000; ++i) y = y + 1.0;
  EXPECT_EQ(y.realize().item<float>(), 2000);
}

TEST(Realize, OfOneResultGivesTheOthersToo) {
  const TopK top = Tensor::from<float>({3, 1, 2}).topk(2);
  top.values.realize();
  EXPECT_TRUE(top.indices.is_realized());
  EXPECT_EQ(top.indices.as_vec<int64_t>(), (std::vector<int64_t>{0, 2}));
}

TEST(ScheduleCache, AnEqualExpressionOnOtherDataCompilesNothing) {
  const auto expression = [](const Floats& a, const Floats& b) {
    const Tensor x = vector(a), y = vector(b);
    return (x * y + 0.125).exp().log();
  };
  expression({1, 2, 3}, {4, 5, 6}).realize();
  const int64_t before = compiles();
  const Tensor again = expression({2, 2, 2}, {1, 1, 1});
  again.realize();
  EXPECT_EQ(compiles(), before);
  EXPECT_NEAR(read(again)[0], 2.125, 1e-5);
}

TEST(ScheduleCache, TellsOneOperandTwiceFromTwo) {
  const Tensor x = vector({1, 2, 3, 4, 5}), y = vector({10, 10, 10, 10, 10});
  EXPECT_EQ(read((x + x).realize()), (Floats{2, 4, 6, 8, 10}));
  EXPECT_EQ(read((x + y).realize()), (Floats{11, 12, 13, 14, 15}));
  EXPECT_EQ(read((y + x).realize()), (Floats{11, 12, 13, 14, 15}));
}

TEST(ScheduleCache, TellsShapesDtypesAndConstantsApart) {
  for (const size_t count : {2, 3}) {
    EXPECT_EQ((vector(Floats(count, 1)) + 1.5).realize().array_view<float>().size(), count);
  }
  EXPECT_EQ((Tensor::from<double>({1}) + 1.5).realize().item<double>(), 2.5);
  EXPECT_EQ((vector({1}) + 2.5).realize().item<float>(), 3.5F);
  EXPECT_EQ((Tensor::from<int64_t>({1}) + 2).realize().item<int64_t>(), 3);
}

TEST(ScheduleCache, ValuesOfVariablesAreNotInIt) {
  const Variable n("n", 1, 8);
  const Tensor x = Tensor::arange(Extent(8)).cast(DType::F32);
  x.realize();
  const auto sum = [&](int64_t value) { return x.shrink({{0, n.bind(value)}}).sum().realize(); };
  EXPECT_EQ(sum(3).item<float>(), 3);
  const int64_t before = compiles();
  EXPECT_EQ(sum(8).item<float>(), 28);
  EXPECT_EQ(sum(1).item<float>(), 0);
  EXPECT_EQ(compiles(), before);
}

TEST(ScheduleCache, CanBeOffWithTheSameResults) {
  const PrepareConfig off{.schedule_cache = false};
  const auto make = [] { return (vector({1, 2, 3}) * 5.0 - 0.5).tanh(); };
  const Floats expected = read(make().realize());
  const int64_t before = compiles();
  EXPECT_EQ(read(make().realize_with(off)), expected);
  EXPECT_EQ(compiles(), before + 1);
}

TEST(Config, IsCheckedAndDecidesHowItIsCompiled) {
  const auto make = [] { return vector({1, 2, 3}).softmax(); };
  const Floats expected = read(make().realize());
  EXPECT_EQ(read(make().realize_with({.optimizer = OptStrategy::Plain{}})), expected);
  EXPECT_EQ(read(make().realize_with({.generator = "c"})), expected);
  EXPECT_EQ(read(make().realize_with({.threads = 1})), expected);
  EXPECT_EQ(user_error_of([&] { make().realize_with({.generator = "rust"}); }),
            "[prepare] generator \"rust\" is not known; there are: llvm, c");
  EXPECT_EQ(user_error_of([&] { make().realize_with({.threads = -1}); }),
            "[prepare] -1 threads: 0 or more are needed");
}

TEST(Variables, HaveBoundsAndOneValue) {
  EXPECT_EQ(user_error_of([] { Variable("n", 4, 3); }),
            "[Variable] \"n\" has bounds 4..3: the least is above the most");
  const Variable n("n", 2, 5);
  EXPECT_EQ(user_error_of([&] { n.bind(6); }), "[bind] \"n\" = 6 is outside of its bounds 2..5");
  const Tensor x = Tensor::ones({8});
  const Tensor a = x.shrink({{0, n.bind(2)}}), b = x.shrink({{0, n.bind(3)}});
  EXPECT_EQ(user_error_of([&] { realize_batch({a.sum(), b.sum()}); }),
            "[realize] the variable \"n\" is bound to 2 and to 3");
  EXPECT_EQ(user_error_of([&] { a + b; }), "[add] the variable \"n\" is bound to 2 and to 3");
  EXPECT_EQ(user_error_of([&] { x.shrink({{0, n}}).realize(); }),
            "[realize] the variable \"n\" has no value: bind it");
}

TEST(Variables, OfARealizedTensorStayBound) {
  const Variable n("n", 1, 8);
  const Tensor head = Tensor::arange(Extent(8)).shrink({{0, n.bind(3)}}).realize();
  EXPECT_EQ(head.extents(), std::vector<int64_t>{3});
  EXPECT_EQ(head.shape().to_string(), "[n]");
  EXPECT_EQ((head + head).sum().realize().item<int64_t>(), 6);
  const Tensor other = Tensor::arange(Extent(8)).shrink({{0, n.bind(4)}});
  EXPECT_EQ(user_error_of([&] { realize_batch({head.sum(), other.sum()}); }),
            "[realize] the variable \"n\" is bound to 3 and to 4");
}

}  // namespace
}  // namespace tenon
