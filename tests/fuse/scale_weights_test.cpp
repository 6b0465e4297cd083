// scale_weights: scales and shifts per channel become weights and bias, with the same numbers; what
// is not per channel, not of parameters, or seen by others stays.
#include <gtest/gtest.h>

#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

using graph::Output;

class ScaleWeights : public ::testing::Test {
 protected:
  Graph g;
  Value x = g.input("x", {{2, 3, 5, 5}, DType::F32});

  Value param(const std::string& name, std::vector<Dim> shape) {
    return g.param(name, {Shape(std::move(shape)), DType::F32});
  }
  Value conv(std::vector<Value> more = {}) {
    std::vector<Value> operands{x, param("w", {4, 3, 2, 2})};
    operands.insert(operands.end(), more.begin(), more.end());
    return g.apply(Op::Conv, std::move(operands),
                   {{"extents", std::vector<Dim>{4, 4}},
                    {"begins", std::vector<Dim>{0, 0}},
                    {"strides", std::vector<int64_t>{1, 1}},
                    {"dilations", std::vector<int64_t>{1, 1}},
                    {"groups", int64_t{1}}});
  }
  // The convolution that is all that is left, and has the numbers of the graph as it was.
  void expect_one_convolution(Value y) {
    g.set_outputs({{"y", y}});
    const Graph scaled = scale_weights(g);
    EXPECT_EQ(scaled.outputs()[0].value.op(), Op::Conv) << print(scaled);
    expect_same_results(g, scaled);
  }
  void expect_unchanged(std::vector<Output> outputs) {
    g.set_outputs(std::move(outputs));
    EXPECT_EQ(print(scale_weights(g)), print(g));
  }
};

TEST_F(ScaleWeights, ANormalizationIsNothingButAConvolution) {
  const Value centered = g.sub(conv(), param("mean", {4, 1, 1}));
  const Value variance = g.unary(Op::Abs, param("variance", {1, 4, 1, 1}));
  const Value deviation = g.unary(Op::Sqrt, g.add(variance, g.scalar(DType::F32, 0.25)));
  const Value scaled = g.mul(param("scale", {4, 1, 1}), g.div(centered, deviation));
  expect_one_convolution(g.add(scaled, param("shift", {4, 1, 1})));
}

TEST_F(ScaleWeights, ABiasIsScaledToo) {
  const Value y = conv({param("bias", {4})});
  expect_one_convolution(g.mul(g.add(y, param("shift", {4, 1, 1})), param("scale", {4, 1, 1})));
}

TEST_F(ScaleWeights, OneNumberServesAllChannels) {
  const Value two = g.scalar(DType::F32, 2);
  expect_one_convolution(g.sub(g.div(conv(), two), two));
}

TEST_F(ScaleWeights, WhatIsNoScaleOrShiftOfAChannelStays) {
  const Value y = conv();
  expect_unchanged({{"columns", g.mul(y, param("a", {4}))}});
  expect_unchanged({{"data", g.mul(y, g.input("b", {{4, 1, 1}, DType::F32}))}});
  expect_unchanged({{"turned", g.div(param("c", {4, 1, 1}), y)}});
  expect_unchanged({{"square", g.mul(y, y)}});
}

TEST_F(ScaleWeights, AConvolutionThatOthersReadStays) {
  const Value y = conv();
  expect_unchanged({{"scaled", g.mul(y, param("a", {4, 1, 1}))}, {"y", y}});
}

}  // namespace
}  // namespace tenon::fuse
