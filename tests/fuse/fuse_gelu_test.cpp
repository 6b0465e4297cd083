// fuse_gelu on the groupings that exporters write, and on what only looks like gelu.
#include <cmath>

#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

using Write = std::function<Value(Graph& g, Value x)>;

Graph written(const Write& write) {
  Graph g;
  Value x = f32_input(g, "x", {sym::batch(), sym::seq(), 8});
  g.set_outputs({{"y", write(g, x)}});
  return g;
}

Value erf(Graph& g, Value x) { return g.unary(Op::Erf, g.div(x, f32(g, std::sqrt(2.0)))); }
Value one_plus_erf(Graph& g, Value x) { return g.add(erf(g, x), f32(g, 1)); }
Value half(Graph& g, Value x) { return g.mul(x, f32(g, 0.5)); }

void expect_gelu(const Write& write) {
  Graph source = written(write);
  Graph fused = fuse_gelu(source);
  EXPECT_EQ(count(fused, Op::Gelu), 1) << graph::print(fused);
  EXPECT_EQ(count(fused, Op::Erf), 0) << graph::print(fused);
  EXPECT_EQ(fused.topological().size(), 2u) << graph::print(fused);
  expect_same_results(source, fused);
}

void expect_no_gelu(const Write& write) {
  EXPECT_EQ(count(fuse_gelu(written(write)), Op::Gelu), 0);
}

TEST(FuseGelu, FindsTheProductInEveryGrouping) {
  expect_gelu([](Graph& g, Value x) { return half(g, g.mul(x, one_plus_erf(g, x))); });
  expect_gelu([](Graph& g, Value x) { return g.mul(half(g, x), one_plus_erf(g, x)); });
  expect_gelu([](Graph& g, Value x) { return g.mul(x, half(g, one_plus_erf(g, x))); });
}

TEST(FuseGelu, FindsTheProductInEveryOperandOrder) {
  expect_gelu([](Graph& g, Value x) { return g.mul(f32(g, 0.5), g.mul(one_plus_erf(g, x), x)); });
  expect_gelu([](Graph& g, Value x) { return g.mul(one_plus_erf(g, x), g.mul(f32(g, 0.5), x)); });
  expect_gelu([](Graph& g, Value x) { return half(g, g.mul(g.add(f32(g, 1), erf(g, x)), x)); });
}

TEST(FuseGelu, TakesDivisionByTwoForHalf) {
  expect_gelu([](Graph& g, Value x) { return g.div(g.mul(x, one_plus_erf(g, x)), f32(g, 2)); });
  expect_gelu([](Graph& g, Value x) { return g.mul(g.div(x, f32(g, 2)), one_plus_erf(g, x)); });
}

TEST(FuseGelu, TakesTheReciprocalRootRoundedToEightDigits) {
  expect_gelu([](Graph& g, Value x) {
    Value e = g.unary(Op::Erf, g.mul(f32(g, 0.70710677), x));
    return half(g, g.mul(x, g.add(e, f32(g, 1))));
  });
}

// sqrt 2 as a bf16 is 1.4140625: gelu to within what bf16 can say.
TEST(FuseGelu, TakesTheRootRoundedToTheDType) {
  for (const DType dtype : {DType::BF16, DType::F16}) {
    Graph g;
    Value x = g.input("x", {{sym::batch(), 8}, dtype});
    auto number = [&](double value) { return g.scalar(dtype, value); };
    Value e = g.unary(Op::Erf, g.div(x, number(std::sqrt(2.0))));
    g.set_outputs({{"y", g.mul(number(0.5), g.mul(x, g.add(e, number(1))))}});
    Graph fused = fuse_gelu(g);
    EXPECT_EQ(count(fused, Op::Gelu), 1) << graph::print(fused);
    expect_same_results(g, fused, 0x1p-7);
  }
}

TEST(FuseGelu, TakesHalfDistributedOverTheSum) {
  expect_gelu([](Graph& g, Value x) { return g.mul(x, g.add(half(g, erf(g, x)), f32(g, 0.5))); });
}

TEST(FuseGelu, TakesConstantsOfOneElementAndAnyRank) {
  expect_gelu([](Graph& g, Value x) {
    const float data[] = {0.5F};
    Value half = g.constant({{1, 1}, DType::F32}, {std::as_bytes(std::span(data)), nullptr});
    return g.mul(g.mul(x, one_plus_erf(g, x)), half);
  });
}

TEST(FuseGelu, FindsGeluOfAScaledInput) {
  Graph source = written([](Graph& g, Value x) {
    Value twice = g.mul(x, f32(g, 2));
    return half(g, g.mul(twice, one_plus_erf(g, twice)));
  });
  Graph fused = fuse_gelu(source);
  EXPECT_EQ(only(fused, Op::Gelu)->operand(0).op(), Op::Mul);
  expect_same_results(source, fused);
}

TEST(FuseGelu, FindsOneGeluAfterAnother) {
  auto gelu = [](Graph& g, Value x) { return half(g, g.mul(x, one_plus_erf(g, x))); };
  Graph source = written([&](Graph& g, Value x) { return gelu(g, gelu(g, x)); });
  Graph fused = fuse_gelu(source);
  EXPECT_EQ(count(fused, Op::Gelu), 2);
  EXPECT_EQ(fused.topological().size(), 3u);
  expect_same_results(source, fused);
}

TEST(FuseGelu, LeavesOtherConstants) {
  expect_no_gelu(
      [](Graph& g, Value x) { return g.mul(g.mul(x, one_plus_erf(g, x)), f32(g, 0.50001)); });
  expect_no_gelu(
      [](Graph& g, Value x) { return half(g, g.mul(x, g.add(erf(g, x), f32(g, 1.0001)))); });
  expect_no_gelu([](Graph& g, Value x) {
    Value e = g.unary(Op::Erf, g.mul(x, f32(g, 0.7072)));
    return half(g, g.mul(x, g.add(e, f32(g, 1))));
  });
}

TEST(FuseGelu, LeavesAnErfWithAnotherWeightThanTheConstant) {
  expect_no_gelu([](Graph& g, Value x) {
    return g.mul(x, g.add(g.mul(erf(g, x), f32(g, 0.51)), f32(g, 0.5)));
  });
}

TEST(FuseGelu, LeavesAnotherFactorThanTheArgument) {
  expect_no_gelu(
      [](Graph& g, Value x) { return half(g, g.mul(g.unary(Op::Neg, x), one_plus_erf(g, x))); });
  expect_no_gelu([](Graph& g, Value x) { return half(g, g.mul(x, g.mul(x, one_plus_erf(g, x)))); });
}

TEST(FuseGelu, LeavesAnErfThatIsNeededElsewhere) {
  Graph g;
  Value x = f32_input(g, "x", {sym::batch(), 8});
  Value sum = one_plus_erf(g, x);
  g.set_outputs({{"y", half(g, g.mul(x, sum))}, {"cdf", sum}});
  EXPECT_EQ(count(fuse_gelu(g), Op::Gelu), 0);
}

TEST(FuseGelu, KeepsTheOriginOfTheLastNode) {
  Graph g;
  Value x = f32_input(g, "x", {sym::batch(), 8});
  Value y = half(g, g.mul(x, one_plus_erf(g, x)));
  g.set_origin(y.node, "layer0/gelu");
  g.set_outputs({{"y", y}});
  Graph fused = fuse_gelu(g);
  EXPECT_EQ(fused.origin(only(fused, Op::Gelu)), "layer0/gelu");
}

}  // namespace
}  // namespace tenon::fuse
