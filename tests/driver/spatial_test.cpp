// Convolutions and pools, compiled, against the interpreter: ranks, groups, strides, dilations,
// padding, symbolic extents, epilogues, both instruction sets.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/driver/window_cases.h"

namespace tenon::graph_test {
namespace {

using graph::Graph;
using graph::Op;
using graph::Value;

const Dim kB = Symbol("b", {1, 1024}), kS = Symbol("s", {1, 512}), kT = Symbol("t", {1, 512});

// Weights that are data are rows like any other; constant ones let work items stage windows.
Value conv(Graph& g, const Windows& c, Value x, bool constant = true) {
  graph::Attributes attributes = attributes_of(c, extents_of(c, kernel_of(c)));
  attributes.set("groups", c.groups);
  const TensorType type{c.w, c.dtype};
  const Value w = constant ? g.param("w", type) : g.input("w", type);
  std::vector<Value> operands{x, w, g.param("bias", {{c.w[0]}, c.dtype})};
  return g.apply(Op::Conv, std::move(operands), std::move(attributes));
}

std::vector<Extents> image_extents() {
  return {{{"b", 1}, {"s", 5}, {"t", 7}},
          {{"b", 3}, {"s", 16}, {"t", 16}},
          {{"b", 2}, {"s", 9}, {"t", 33}}};
}

class ConvTest : public ::testing::TestWithParam<Windows> {};

TEST_P(ConvTest, GivesTheNumbersOfTheInterpreter) {
  const Windows& c = GetParam();
  Graph g;
  g.set_outputs({{"y", conv(g, c, g.input("x", {c.x, c.dtype}))}});
  expect_interpreted(g, image_extents());
}

INSTANTIATE_TEST_SUITE_P(
    All, ConvTest,
    ::testing::Values(
        Windows{"same", {2, 5, 9, 20}, {13, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        Windows{"valid", {1, 3, 12, 19}, {7, 3, 3, 5}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        Windows{"pointwise", {2, 37, 7, 7}, {30, 37, 1, 1}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        Windows{"strided", {1, 3, 15, 17}, {8, 3, 7, 7}, {2, 2}, {1, 1}, {3, 3, 3, 3}},
        Windows{"strided_pointwise", {2, 6, 9, 9}, {5, 6, 1, 1}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
        Windows{"dilated", {1, 4, 14, 21}, {6, 4, 3, 3}, {1, 2}, {2, 3}, {2, 0, 1, 4}},
        Windows{"grouped", {2, 12, 6, 10}, {10, 6, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 2},
        Windows{"depthwise", {2, 6, 9, 35}, {6, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 6},
        Windows{
            "depthwise_strided", {1, 5, 12, 40}, {10, 1, 5, 3}, {2, 2}, {1, 1}, {2, 1, 2, 1}, 5},
        Windows{"deep", {1, 40, 5, 6}, {9, 40, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        Windows{"one_axis", {2, 4, 50}, {5, 4, 4}, {3}, {2}, {3, 1}},
        Windows{"three_axes",
                {1, 2, 5, 6, 7},
                {4, 2, 2, 3, 2},
                {1, 2, 1},
                {1, 1, 2},
                {1, 0, 1, 0, 1, 1}},
        Windows{"negative_pads", {1, 3, 9, 9}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {-1, 0, 0, -2}},
        Windows{"symbolic", {kB, 3, kS, kT}, {6, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        Windows{"symbolic_strided", {kB, 4, kS, kT}, {6, 2, 3, 3}, {2, 2}, {1, 1}, {1, 0, 1, 1}, 2},
        Windows{
            "symbolic_depthwise", {kB, 3, kS, kT}, {3, 1, 3, 3}, {1, 2}, {1, 1}, {1, 1, 1, 1}, 3},
        Windows{"empty_batch", {0, 3, 8, 8}, {4, 3, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        Windows{"f64", {1, 6, 7, 9}, {5, 6, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1, DType::F64},
        Windows{"i32", {2, 7, 7, 9}, {5, 7, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1, DType::I32}),
    [](const auto& info) { return info.param.name; });

// The result's extents are differences of symbols: indices are divided by them.
TEST(Conv, KernelsMayHaveSymbolicExtents) {
  const Dim p = Symbol("p", {0, 9}), q = Symbol("q", {0, 9});
  const std::vector<Extents> all = {{{"b", 1}, {"s", 5}, {"t", 7}, {"p", 3}, {"q", 2}},
                                    {{"b", 2}, {"s", 9}, {"t", 20}, {"p", 1}, {"q", 9}},
                                    {{"b", 3}, {"s", 8}, {"t", 8}, {"p", 8}, {"q", 8}}};
  for (const DType dtype : {DType::F32, DType::I32, DType::F64}) {
    for (const Op op : {Op::Conv, Op::ConvTranspose}) {
      Graph g;
      const Value x = g.input("x", {{kB, 2, kS, kT}, dtype});
      const Value w = g.input("w", {{2, 2, p, q}, dtype});
      const std::vector<int64_t> ones{1, 1};
      const std::vector<Dim> extents = op == Op::Conv ? std::vector<Dim>{kS - p + 1, kT - q + 1}
                                                      : std::vector<Dim>{kS + p - 1, kT + q - 1};
      const Value y = g.apply(op, {x, w},
                              {{"extents", extents},
                               {"begins", std::vector<Dim>{0, 0}},
                               {"strides", ones},
                               {"dilations", ones},
                               {"groups", int64_t{1}}});
      g.set_outputs({{"y", y}});
      expect_interpreted(g, all);
    }
  }
}

class ConvTransposeTest : public ::testing::TestWithParam<Windows> {};

TEST_P(ConvTransposeTest, GivesTheNumbersOfTheInterpreter) {
  const Windows& c = GetParam();
  Graph g;
  const Value x = g.input("x", {c.x, c.dtype});
  std::vector<Dim> extents;
  const size_t rank = c.strides.size();
  for (size_t i = 0; i < rank; ++i) {
    const int axis = static_cast<int>(i) + 2;
    extents.push_back((c.x[axis] - 1) * c.strides[i] + (c.w[axis] - 1) * c.dilations[i] + 1 -
                      c.pads[i] - c.pads[rank + i]);
  }
  graph::Attributes attributes = attributes_of(c, extents);
  attributes.set("groups", c.groups);
  const Value w = g.param("w", {c.w, c.dtype});
  g.set_outputs({{"y", g.apply(Op::ConvTranspose, {x, w}, std::move(attributes))}});
  expect_interpreted(g, image_extents());
}

INSTANTIATE_TEST_SUITE_P(
    All, ConvTransposeTest,
    ::testing::Values(
        Windows{"plain", {1, 5, 6, 7}, {5, 8, 3, 3}, {1, 1}, {1, 1}, {0, 0, 0, 0}},
        Windows{"doubling", {2, 12, 5, 9}, {12, 9, 2, 2}, {2, 2}, {1, 1}, {0, 0, 0, 0}},
        Windows{"padded", {1, 4, 5, 9}, {4, 6, 4, 4}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
        Windows{"grouped", {1, 6, 5, 5}, {6, 4, 3, 3}, {3, 2}, {2, 1}, {1, 0, 0, 1}, 2},
        Windows{"one_axis", {2, 3, 11}, {3, 5, 3}, {2}, {1}, {0, 1}},
        Windows{"symbolic", {kB, 3, kS, kT}, {3, 5, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}),
    [](const auto& info) { return info.param.name; });

TEST(Conv, EpiloguesAreOneKernel) {
  const Windows c{"", {2, 5, 8, 12}, {7, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}};
  Graph g;
  const Value y = conv(g, c, g.input("x", {c.x, DType::F32}));
  const Value scale = g.param("scale", {{7, 1, 1}, DType::F32});
  const Value residual = g.input("r", {{2, 7, 8, 12}, DType::F32});
  g.set_outputs({{"y", g.relu(g.add(g.mul(y, scale), residual))}});
  expect_interpreted(g, {{}});
  EXPECT_EQ(RunGraph(g).program().steps.size(), 1U);
}

TEST(Conv, OfTwoConvolutionsThatMeetOneIsStored) {
  const Windows c{"", {1, 5, 8, 12}, {7, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}};
  Graph g;
  const Value x = g.input("x", {c.x, DType::F32});
  const Value a = conv(g, c, x);
  graph::Attributes attributes = attributes_of(c, {8, 12});
  attributes.set("groups", int64_t{1});
  const Value b = g.apply(Op::Conv, {x, g.param("w2", {c.w, DType::F32})}, std::move(attributes));
  g.set_outputs({{"y", g.relu(g.add(a, b))}});
  expect_interpreted(g, {{}});
}

TEST(Conv, ReadersOtherThanElementwiseWorkFindItStored) {
  const Windows c{"", {1, 5, 8, 12}, {7, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}};
  Graph g;
  const Value y = g.relu(conv(g, c, g.input("x", {c.x, DType::F32})));
  g.set_outputs({{"mean", g.reduce(Op::ReduceMean, y, {2, 3})},
                 {"turned", g.transpose(y, {0, 2, 3, 1})},
                 {"wide", g.add(g.reduce(Op::ReduceMax, y, {1}), y)}});
  expect_interpreted(g, {{}});
}

TEST(Conv, WeightsMayBeData) {
  for (const Windows& c :
       {Windows{"same", {2, 5, 9, 20}, {13, 5, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
        Windows{"grouped", {2, 8, kS, kT}, {6, 4, 3, 3}, {2, 1}, {1, 2}, {1, 1, 1, 1}, 2}}) {
    Graph g;
    g.set_outputs({{"y", conv(g, c, g.input("x", {c.x, c.dtype}), false)}});
    expect_interpreted(g, image_extents());
  }
}

struct PoolCase {
  Op op;
  Windows windows;
  bool padding_counts = false, column_major = false;
  double p = 2;
};
std::ostream& operator<<(std::ostream& stream, const PoolCase& c) {
  return stream << c.windows.name;
}

class PoolTest : public ::testing::TestWithParam<PoolCase> {
 protected:
  static Graph graph_of(const PoolCase& c) {
    const Windows& w = c.windows;
    Graph g;
    graph::Attributes attributes = attributes_of(w, extents_of(w, kernel_of(w)));
    attributes.set("kernel", kernel_of(w));
    if (c.op == Op::MaxPool) attributes.set("column_major", int64_t{c.column_major});
    if (c.op == Op::LpPool) attributes.set("p", c.p);
    if (c.padding_counts) {
      attributes.set("ends",
                     std::vector<Dim>(w.pads.begin() + std::ssize(w.strides), w.pads.end()));
    }
    const auto results = g.apply_all(c.op, {g.input("x", {w.x, w.dtype})}, std::move(attributes));
    std::vector<graph::Output> outputs{{"y", results[0]}};
    if (c.op == Op::MaxPool) outputs.push_back({"places", results[1]});
    g.set_outputs(std::move(outputs));
    return g;
  }
};

TEST_P(PoolTest, GivesTheNumbersOfTheInterpreter) {
  expect_interpreted(graph_of(GetParam()), image_extents());
}

INSTANTIATE_TEST_SUITE_P(
    All, PoolTest,
    ::testing::Values(
        PoolCase{Op::MaxPool, {"max", {1, 3, 9, 40}, {1, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}},
        PoolCase{Op::MaxPool,
                 {"max_columns", {2, 3, 5, 7}, {1, 1, 2, 3}, {1, 2}, {2, 1}, {0, 1, 1, 0}},
                 false,
                 true},
        PoolCase{Op::MaxPool,
                 {"max_large", {1, 2, 12, 13}, {1, 1, 9, 9}, {1, 1}, {1, 1}, {4, 4, 4, 4}}},
        PoolCase{
            Op::MaxPool,
            {"max_bytes", {1, 2, 9, 17}, {1, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}, 1, DType::I8}},
        PoolCase{Op::MaxPool,
                 {"max_symbolic", {kB, 2, kS, kT}, {1, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}},
        PoolCase{Op::MaxPool,
                 {"max_three_axes",
                  {1, 2, 4, 5, 6},
                  {1, 1, 2, 2, 2},
                  {1, 1, 1},
                  {1, 1, 1},
                  {0, 1, 0, 1, 0, 0}}},
        PoolCase{Op::AveragePool,
                 {"mean", {1, 3, 9, 40}, {1, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}}},
        PoolCase{Op::AveragePool,
                 {"mean_padding", {1, 3, 9, 21}, {1, 1, 3, 4}, {2, 1}, {1, 2}, {1, 1, 1, 2}},
                 true},
        PoolCase{Op::AveragePool,
                 {"mean_large", {2, 2, 12, 13}, {1, 1, 10, 9}, {1, 1}, {1, 1}, {4, 4, 4, 4}}},
        PoolCase{Op::AveragePool,
                 {"mean_symbolic", {kB, 2, kS, kT}, {1, 1, 3, 2}, {1, 2}, {1, 1}, {1, 0, 1, 1}}},
        PoolCase{Op::AveragePool, {"mean_one_axis", {2, 2, 30}, {1, 1, 4}, {2}, {3}, {3, 2}}},
        PoolCase{Op::LpPool,
                 {"norm_1", {1, 3, 9, 20}, {1, 1, 3, 3}, {2, 2}, {1, 1}, {1, 1, 1, 1}},
                 false,
                 false,
                 1},
        PoolCase{Op::LpPool,
                 {"norm_2", {1, 3, 9, 20}, {1, 1, 3, 3}, {1, 1}, {1, 1}, {1, 1, 1, 1}},
                 false,
                 false,
                 2}),
    [](const auto& info) { return info.param.windows.name; });

TEST(MaxPool, NaNIsTheLargestAndTheFirstOfEqualsCounts) {
  Graph g;
  const auto results = g.apply_all(Op::MaxPool, {g.input("x", {{1, 1, 8}, DType::F32})},
                                   {{"extents", std::vector<Dim>{6}},
                                    {"begins", std::vector<Dim>{0}},
                                    {"strides", std::vector<int64_t>{1}},
                                    {"dilations", std::vector<int64_t>{1}},
                                    {"kernel", std::vector<int64_t>{3}},
                                    {"column_major", int64_t{0}}});
  g.set_outputs({{"y", results[0]}, {"at", results[1]}});
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> x{-inf, -inf, -inf, 2, 2, NAN, 1, NAN};
  const auto bytes = std::as_bytes(std::span(x));
  const graph::Tensor t{DType::F32, {1, 1, 8}, {bytes.begin(), bytes.end()}};
  const auto out = RunGraph(g).run({{"x", t}});
  const auto* y = reinterpret_cast<const float*>(out[0].bytes.data());
  const auto* at = reinterpret_cast<const int64_t*>(out[1].bytes.data());
  EXPECT_EQ(y[0], -inf);
  EXPECT_EQ(y[1], 2);
  EXPECT_TRUE(std::isnan(y[3]) && std::isnan(y[5]));
  EXPECT_EQ(std::vector<int64_t>(at, at + 6), (std::vector<int64_t>{0, 3, 3, 5, 5, 5}));
}

}  // namespace
}  // namespace tenon::graph_test
