// Ops of ops/math.def and ops/quantize.def where the node cases of ONNX say little: NaN and signed
// zero, wrapping, empty extents, axes that are data, storage-only dtypes, random numbers. Expected
// values are worked out by hand or taken from NumPy.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/graph.h"
#include "graph/philox.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor run(Graph& g, const Value& result, const std::map<std::string, Tensor>& inputs = {}) {
  g.set_outputs({{"y", result}});
  return interpret(g, inputs)[0];
}

Value given(Graph& g, const std::string& name, const Tensor& tensor) {
  return g.input(name, {Shape({tensor.shape.begin(), tensor.shape.end()}), tensor.dtype});
}

Tensor run_op(Op op, const Tensor& x, Attributes attributes = {}) {
  Graph g;
  const Value in = given(g, "x", x);
  return run(g, g.apply(op, {in}, std::move(attributes)), {{"x", x}});
}

Tensor run_binary(Op op, const Tensor& a, const Tensor& b) {
  Graph g;
  const Value left = given(g, "a", a), right = given(g, "b", b);
  return run(g, g.binary(op, left, right), {{"a", a}, {"b", b}});
}

TEST(Mod, TakesTheSignOfTheDivisorAndRemainderThatOfTheDividend) {
  const Tensor a = tensor(DType::I8, {6}, {-7, 7, -7, -128, 5, 0}),
               b = tensor(DType::I8, {6}, {3, -3, -3, -1, 0, 4});
  EXPECT_EQ(numbers(run_binary(Op::Mod, a, b)), (std::vector<double>{2, -2, -1, 0, 0, 0}));
  EXPECT_EQ(numbers(run_binary(Op::Remainder, a, b)), (std::vector<double>{-1, 1, -1, 0, 0, 0}));
}

TEST(Mod, OfFloatsFollowsInfinityAndSignedZero) {
  const std::vector<double> y = numbers(
      run_binary(Op::Mod, f32({5}, {5, -5, 0.0, kInf, 1}), f32({5}, {kInf, kInf, -2, 2, 0})));
  EXPECT_EQ(y[0], 5);
  EXPECT_EQ(y[1], kInf);
  EXPECT_TRUE(y[2] == 0 && std::signbit(y[2]));
  EXPECT_TRUE(std::isnan(y[3]) && std::isnan(y[4]));
}

TEST(Mod, OfTheSmallestIntegerByMinusOneIsZero) {
  const auto low = static_cast<double>(std::numeric_limits<int64_t>::min());
  EXPECT_EQ(numbers(run_binary(Op::Mod, i64({1}, {low}), i64({1}, {-1})))[0], 0);
}

TEST(Shift, BeyondTheWidthLeavesTheSign) {
  const Tensor x = tensor(DType::I8, {4}, {-3, 3, -128, 127}),
               by = tensor(DType::I8, {4}, {8, -1, 7, 1});
  EXPECT_EQ(numbers(run_binary(Op::ShiftRight, x, by)), (std::vector<double>{-1, 0, -1, 63}));
  EXPECT_EQ(numbers(run_binary(Op::ShiftLeft, x, by)), (std::vector<double>{0, 0, 0, -2}));
}

TEST(Round, TakesHalvesToEvenAndKeepsNaN) {
  const std::vector<double> y =
      numbers(run_op(Op::Round, tensor(DType::F16, {5}, {0.5, 1.5, -2.5, kInf, kNaN})));
  EXPECT_EQ((std::vector<double>(y.begin(), y.end() - 1)), (std::vector<double>{0, 2, -2, kInf}));
  EXPECT_TRUE(std::isnan(y[4]));
}

TEST(Reduce, OverNoElementsGivesTheIdentity) {
  const std::vector<int64_t> axes{1};
  const auto reduced = [&](Op op, DType dtype) {
    return numbers(run_op(op, tensor(dtype, {2, 0}, {}), {{"axes", axes}}));
  };
  EXPECT_EQ(reduced(Op::ReduceProd, DType::F32), (std::vector<double>{1, 1}));
  EXPECT_EQ(reduced(Op::ReduceMax, DType::F32), (std::vector<double>{-kInf, -kInf}));
  EXPECT_EQ(reduced(Op::ReduceMax, DType::I8), (std::vector<double>{-128, -128}));
  EXPECT_EQ(reduced(Op::ReduceMin, DType::U8), (std::vector<double>{255, 255}));
}

TEST(ReduceProd, WrapsToItsWidth) {
  const Tensor y = run_op(Op::ReduceProd, tensor(DType::I8, {3}, {100, 3, 1}),
                          {{"axes", std::vector<int64_t>{0}}});
  EXPECT_EQ(numbers(y), (std::vector<double>{44}));
}

struct Dynamic {
  Graph g;
  Value x, axes;
  Dynamic() : x(g.input("x", {{2, 3}, DType::F32})), axes(g.input("axes", {{1}, DType::I64})) {}
  Tensor over(double axis, bool keep) {
    std::vector<Dim> shape(keep ? 2 : 1, Dim(0));
    for (Dim& extent : shape) extent = g.fresh_symbol("reduced", {0, kDimInf});
    const Value y = g.apply(Op::ReduceOver, {x, axes},
                            {{"op", "reduce_sum"}, {"shape", shape}, {"keep", int64_t{keep}}});
    return run(g, y, {{"x", f32({2, 3}, {1, 2, 3, 4, 5, 6})}, {"axes", i64({1}, {axis})}});
  }
};

TEST(ReduceOver, TakesItsAxesFromData) {
  const Tensor kept = Dynamic().over(-1, true), gone = Dynamic().over(0, false);
  EXPECT_EQ(kept.shape, (std::vector<int64_t>{2, 1}));
  EXPECT_EQ(numbers(kept), (std::vector<double>{6, 15}));
  EXPECT_EQ(gone.shape, (std::vector<int64_t>{3}));
  EXPECT_EQ(numbers(gone), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(error_of([] { Dynamic().over(2, true); }),
            "User [reduce_over] axis 2 is out of range for rank 2");
}

TEST(ArgMax, TakesTheFirstOrTheLastAndNaNWins) {
  const Tensor x = f32({2, 4}, {1, 3, 3, 2, 0, kNaN, 5, kNaN});
  EXPECT_EQ(numbers(run_op(Op::ArgMax, x, {{"axis", int64_t{1}}})), (std::vector<double>{1, 1}));
  EXPECT_EQ(numbers(run_op(Op::ArgMax, x, {{"axis", int64_t{1}}, {"last", int64_t{1}}})),
            (std::vector<double>{2, 3}));
  EXPECT_EQ(
      numbers(run_op(Op::ArgMin, tensor(DType::U64, {1, 3}, {5, 2, 2}), {{"axis", int64_t{1}}})),
      (std::vector<double>{1}));
  EXPECT_NE(error_of([] {
              run_op(Op::ArgMax, f32({0, 2}, {}), {{"axis", int64_t{0}}});
            }).find("[arg_max]"),
            std::string::npos);
}

TEST(CumSum, RunsBackwardsExclusivelyAndOverAnAxisThatIsData) {
  const Tensor x = f32({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(
      numbers(run_op(Op::CumSum, x,
                     {{"axis", int64_t{1}}, {"exclusive", int64_t{1}}, {"reverse", int64_t{1}}})),
      (std::vector<double>{5, 3, 0, 11, 6, 0}));
  Graph g;
  const Value in = given(g, "x", x), axis = g.input("axis", {{}, DType::I64});
  const Value y = g.apply(Op::CumProd, {in, axis});
  EXPECT_EQ(numbers(run(g, y, {{"x", x}, {"axis", i64({}, {-2})}})),
            (std::vector<double>{1, 2, 3, 4, 10, 18}));
  EXPECT_NE(
      error_of([&] { interpret(g, {{"x", x}, {"axis", i64({}, {2})}}); }).find("none of rank 2"),
      std::string::npos);
}

TEST(CumSum, OfNothingIsNothing) {
  const Tensor y = run_op(Op::CumSum, f32({2, 0}, {}), {{"axis", int64_t{1}}});
  EXPECT_EQ(y.shape, (std::vector<int64_t>{2, 0}));
}

TEST(Det, PivotsAndKnowsTheEmptyMatrix) {
  expect_near(run_op(Op::Det, f32({2, 2, 2}, {0, 1, 1, 0, 2, 4, 1, 2})), {-1, 0});
  expect_near(run_op(Op::Det, f32({0, 0}, {})), {1});
}

TEST(Cast, StoresNarrowFloatsWithAndWithoutSaturation) {
  const Tensor x = f32({3}, {1000, -1e-9, 1.06});
  EXPECT_EQ(numbers(run_op(Op::Cast, x, {{"dtype", DType::F8E4M3FN}})),
            (std::vector<double>{448, 0, 1}));
  const Tensor y = run_op(Op::Cast, x, {{"dtype", DType::F8E5M2}, {"saturate", int64_t{0}}});
  EXPECT_EQ(numbers(y)[0], 1024);
  EXPECT_EQ(
      numbers(run_op(Op::Cast, f32({1}, {1.2}), {{"dtype", DType::F8E8M0}, {"rounding", "down"}})),
      (std::vector<double>{1}));
}

TEST(StorageOnlyDTypes, MoveButDoNotCompute) {
  Graph g;
  const Value x = g.input("x", {{2, 2}, DType::I4});
  EXPECT_EQ(
      numbers(run(g, g.transpose(x, {1, 0}), {{"x", tensor(DType::I4, {2, 2}, {1, -2, 3, 7})}})),
      (std::vector<double>{1, 3, -2, 7}));
  EXPECT_EQ(
      error_of([&] { g.add(x, x); }),
      "User [add] i4 is a dtype to store, not to compute with (cast it): i4[2, 2] x i4[2, 2]");
}

TEST(BitCast, NeedsEqualWidths) {
  EXPECT_EQ(numbers(run_op(Op::BitCast, f32({1}, {1}), {{"dtype", DType::I32}})),
            (std::vector<double>{0x3f800000}));
  EXPECT_EQ(error_of([] { run_op(Op::BitCast, f32({1}, {1}), {{"dtype", DType::I16}}); }),
            "User [bit_cast] i16 has other bits than f32: f32[1]");
}

// The vectors of the authors' own test file.
TEST(Philox, GivesThePublishedWords) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxWords{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const uint32_t f = 0xffffffff;
  EXPECT_EQ(philox({f, f, f, f}, {f, f}),
            (PhiloxWords{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

std::vector<double> drawn(Op op, const std::string& token, int64_t seed, const char* a,
                          const char* b) {
  Graph g;
  const Value y = g.apply(op, {},
                          {{"shape", std::vector<Dim>{100, 200}},
                           {"dtype", DType::F32},
                           {a, 1.0},
                           {b, 3.0},
                           {"seed", seed},
                           {"token", token}});
  return numbers(run(g, y));
}

struct Moments {
  double mean = 0, variance = 0;
};

Moments moments(const std::vector<double>& values) {
  Moments m;
  for (const double v : values) m.mean += v / static_cast<double>(values.size());
  for (const double v : values) {
    m.variance += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  }
  return m;
}

TEST(Random, UniformNumbersFillTheirRange) {
  const std::vector<double> y = drawn(Op::RandomUniform, "a", 1, "low", "high");
  const Moments m = moments(y);
  EXPECT_NEAR(m.mean, 2, 0.02);
  EXPECT_NEAR(m.variance, 4.0 / 12, 0.01);
  EXPECT_GE(*std::ranges::min_element(y), 1);
  EXPECT_LT(*std::ranges::max_element(y), 3);
}

TEST(Random, NormalNumbersHaveTheirMeanAndScale) {
  const Moments m = moments(drawn(Op::RandomNormal, "a", 1, "mean", "scale"));
  EXPECT_NEAR(m.mean, 1, 0.08);
  EXPECT_NEAR(m.variance, 9, 0.3);
}

TEST(Random, NumbersRepeatForASeedAndDifferForATokenOrAnotherSeed) {
  const std::vector<double> y = drawn(Op::RandomUniform, "a", 1, "low", "high");
  EXPECT_EQ(y, drawn(Op::RandomUniform, "a", 1, "low", "high"));
  EXPECT_NE(y, drawn(Op::RandomUniform, "b", 1, "low", "high"));
  EXPECT_NE(y, drawn(Op::RandomUniform, "a", 2, "low", "high"));
}

}  // namespace
}  // namespace tenon::graph
