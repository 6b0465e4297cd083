// Image ops where the ONNX suite is silent: empty extents, NaN, integers that wrap, windows of
// padding alone, and data that makes no sense. Expected values are worked out by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/graph.h"
#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

using Extent = std::vector<Dim>;
using Count = std::vector<int64_t>;

Shape static_shape(const std::vector<int64_t>& extents) {
  return Shape(Extent(extents.begin(), extents.end()));
}

// One op on inputs "0", "1", ...
std::vector<Tensor> run(Op op, const std::vector<Tensor>& operands, const Attributes& attributes) {
  Graph g;
  std::vector<Value> values;
  std::map<std::string, Tensor> inputs;
  for (const Tensor& operand : operands) {
    const std::string name = "i" + std::to_string(values.size());
    values.push_back(g.input(name, {static_shape(operand.shape), operand.dtype}));
    inputs[name] = operand;
  }
  std::vector<Output> outputs;
  for (const Value& value : g.apply_all(op, values, attributes)) {
    outputs.push_back({"o" + std::to_string(outputs.size()), value});
  }
  g.set_outputs(outputs);
  return interpret(g, inputs);
}

Attributes windows(Extent extents, Extent begins, Count strides, Count dilations) {
  return {{"extents", std::move(extents)},
          {"begins", std::move(begins)},
          {"strides", std::move(strides)},
          {"dilations", std::move(dilations)}};
}

Attributes conv(Attributes attributes, int64_t groups = 1) {
  attributes.set("groups", groups);
  return attributes;
}

Attributes pool(Attributes attributes, Count kernel) {
  attributes.set("kernel", std::move(kernel));
  return attributes;
}

TEST(Conv, SumsTapsAndTakesZerosOutside) {
  const Tensor x = f32({1, 1, 4}, {1, 2, 3, 4}), w = f32({1, 1, 2}, {10, 1});
  expect_near(run(Op::Conv, {x, w}, conv(windows({5}, {1}, {1}, {1})))[0], {1, 12, 23, 34, 40});
  expect_near(run(Op::Conv, {x, w, f32({1}, {100})}, conv(windows({2}, {0}, {1}, {2})))[0],
              {113, 124});
}

TEST(Conv, OfNoChannelsIsTheBias) {
  const Tensor x = f32({1, 0, 2}, {}), w = f32({2, 0, 1}, {}), bias = f32({2}, {3, 4});
  expect_near(run(Op::Conv, {x, w, bias}, conv(windows({2}, {0}, {1}, {1})))[0], {3, 3, 4, 4});
}

TEST(Conv, OfNoImagesIsEmpty) {
  const Tensor x = f32({0, 1, 3}, {}), w = f32({1, 1, 2}, {1, 1});
  EXPECT_EQ(run(Op::Conv, {x, w}, conv(windows({2}, {0}, {1}, {1})))[0].shape, (Count{0, 1, 2}));
}

TEST(Conv, WrapsIntegers) {
  const Tensor x = tensor(DType::I32, {1, 1, 1}, {2147483647});
  const Tensor w = tensor(DType::I32, {1, 1, 1}, {2});
  expect_near(run(Op::Conv, {x, w}, conv(windows({1}, {0}, {1}, {1})))[0], {-2});
}

TEST(Conv, KeepsGroupsApart) {
  const Tensor x = f32({1, 2, 1}, {5, 7}), w = f32({2, 1, 1}, {10, 100});
  expect_near(run(Op::Conv, {x, w}, conv(windows({1}, {0}, {1}, {1}), 2))[0], {50, 700});
}

TEST(ConvTranspose, SpreadsEachElementAndCutsBothEnds) {
  const Tensor x = f32({1, 1, 2}, {1, 2}), w = f32({1, 1, 3}, {1, 10, 100});
  expect_near(run(Op::ConvTranspose, {x, w}, conv(windows({5}, {0}, {2}, {1})))[0],
              {1, 10, 102, 20, 200});
  expect_near(run(Op::ConvTranspose, {x, w}, conv(windows({3}, {1}, {2}, {1})))[0], {10, 102, 20});
}

TEST(MaxPool, TakesNaNForTheLargestAndNamesThePlace) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Attributes a = pool(windows({2}, {0}, {2}, {1}), {2});
  a.set("column_major", int64_t{0});
  const std::vector<Tensor> y = run(Op::MaxPool, {f32({1, 1, 4}, {9, nan, -3, -2})}, a);
  EXPECT_TRUE(std::isnan(numbers(y[0])[0]));
  EXPECT_EQ(numbers(y[0])[1], -2);
  expect_near(y[1], {1, 3});
}

TEST(MaxPool, OfPaddingAloneIsTheLowest) {
  Attributes a = pool(windows({2}, {0}, {4}, {1}), {1});
  a.set("column_major", int64_t{0});
  const std::vector<Tensor> y = run(Op::MaxPool, {tensor(DType::I8, {1, 1, 2}, {5, 6})}, a);
  expect_near(y[0], {5, -128});
  expect_near(y[1], {0, -1});
}

TEST(AveragePool, CountsPaddingOnlyUpToItsEnds) {
  const Tensor x = f32({1, 1, 3}, {3, 6, 9});
  Attributes a = pool(windows({3}, {1}, {2}, {1}), {3});
  expect_near(run(Op::AveragePool, {x}, a)[0], {4.5, 7.5, 0});
  a.set("ends", Extent{1});
  expect_near(run(Op::AveragePool, {x}, a)[0], {3, 5, 0});
}

TEST(MaxUnpool, RejectsAPlaceOutside) {
  EXPECT_EQ(error_of([] {
              run(Op::MaxUnpool, {f32({1, 1, 1}, {5}), i64({1, 1, 1}, {4})},
                  {{"inner", Extent{1, 1, 4}}, {"shape", Extent{1, 1, 4}}});
            }),
            "User [max_unpool] index 4 is outside [1, 1, 4]");
}

TEST(Resize, KeepsBitsWhereItPicksElements) {
  Attributes a{{"shape", Extent{1, 4}},
               {"order", Count{1}},
               {"mode", "nearest"},
               {"coordinates", "asymmetric"},
               {"rounding", "floor"},
               {"policy", "stretch"},
               {"cubic", -0.75},
               {"outside", 0.0},
               {"exclude_outside", int64_t{0}},
               {"antialias", int64_t{0}}};
  const Tensor x = tensor(DType::I64, {1, 2}, {3, -4});
  expect_near(run(Op::Resize, {x, f32({1}, {2})}, a)[0], {3, 3, -4, -4});
  EXPECT_EQ(error_of([&] { run(Op::Resize, {x, f32({1}, {-2})}, a); }),
            "User [resize] the scale -2 is not possible");
}

TEST(GridSample, ReadsNothingAtNoNumber) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor x = f32({1, 1, 2}, {4, 8}), grid = f32({1, 3, 1}, {nan, 0, 1e30});
  expect_near(run(Op::GridSample, {x, grid},
                  {{"mode", "linear"}, {"padding", "zeros"}, {"align_corners", int64_t{1}}})[0],
              {0, 6, 0});
}

TEST(RoiAlign, RejectsAnImageThatIsNotThere) {
  EXPECT_EQ(error_of([] {
              run(Op::RoiAlign, {f32({1, 1, 1, 1}, {1}), f32({1, 4}, {0, 0, 1, 1}), i64({1}, {1})},
                  {{"extents", Count{1, 1}},
                   {"scale", 1.0},
                   {"samples", int64_t{1}},
                   {"mode", "avg"},
                   {"half_pixel", int64_t{0}}});
            }),
            "User [roi_align] a region is in image 1 of 1");
}

TEST(Dft, OfOneElementIsItself) {
  const Tensor x = f32({1, 1, 1}, {7});
  expect_near(
      run(Op::Dft, {x, i64({}, {0}), i64({}, {-2})},
          {{"shape", Extent{1, 1, 2}}, {"inverse", int64_t{0}}, {"onesided", int64_t{0}}})[0],
      {7, 0});
  EXPECT_EQ(error_of([&] {
              run(Op::Dft, {x, i64({}, {0}), i64({}, {2})},
                  {{"shape", Extent{1, 1, 2}}, {"inverse", int64_t{0}}, {"onesided", int64_t{0}}});
            }),
            "User [dft] axis 2 of [1, 1, 1] is no signal");
}

TEST(Recurrent, StopsAtTheLengthOfEachSequence) {
  const Tensor x = f32({2, 2, 1}, {1, 2, 3, 4});
  const std::vector<Tensor> y = run(Op::Recurrent,
                                    {x, f32({1, 1, 1}, {1}), f32({1, 1, 1}, {10}),
                                     f32({1, 2}, {0, 0}), i64({2}, {1, 2}), f32({1, 2, 1}, {0, 0})},
                                    {{"cell", "rnn"},
                                     {"direction", "reverse"},
                                     {"activations", "affine"},
                                     {"alpha", std::vector<double>{1}},
                                     {"beta", std::vector<double>{0}}});
  expect_near(y[0], {1, 42, 0, 4});
  expect_near(y[1], {1, 42});
}

TEST(NllLoss, IgnoresATargetAndRejectsAStrayOne) {
  const Tensor x = f32({2, 2}, {-1, -2, -3, -4}), weight = f32({2}, {1, 10});
  const std::vector<Tensor> y =
      run(Op::NllLoss, {x, i64({2}, {1, 7}), weight}, {{"ignore", int64_t{7}}});
  expect_near(y[0], {20, 0});
  expect_near(y[1], {10, 0});
  EXPECT_EQ(error_of([&] { run(Op::NllLoss, {x, i64({2}, {1, 7}), weight}, {}); }),
            "User [nll_loss] target 7 is none of 2 classes");
}

TEST(Conv, KeepsSymbolicExtents) {
  Graph g;
  const Dim h = Symbol("h");
  const Value x = g.input("x", {{1, 1, h}, DType::F32});
  const Value w = g.param("w", {{1, 1, 3}, DType::F32});
  const Value y = g.apply(Op::Conv, {x, w}, conv(windows({floordiv(h - 1, 2) + 1}, {1}, {2}, {1})));
  EXPECT_EQ(y.shape()[2], floordiv(h - 1, 2) + 1);
}

}  // namespace
}  // namespace tenon::graph
