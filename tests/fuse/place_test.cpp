// Which values are bytes of others: offsets by hand, and everything that must stay as it is.
#include <gtest/gtest.h>

#include "fuse/fuse.h"

namespace tenon::fuse {
namespace {

using namespace graph;

const Dim kBatch = Symbol("batch", {1, 64});

class Place : public ::testing::Test {
 protected:
  Graph g;
  Value x = g.input("x", {{kBatch, 8}, DType::F32});
  Value w = g.param("w", {{8, 8}, DType::F32});
  Value product(double scale) { return g.matmul(g.mul(x, g.scalar(DType::F32, scale)), w); }
  Regions regions(Value output) {
    g.set_outputs({{"y", output}});
    return partition(g);
  }
};

TEST_F(Place, PartsOfAConcatOfRowsAreComputedThere) {
  const Value a = product(1), b = product(2), y = g.concat({a, b}, 0);
  const Regions r = regions(g.softmax(g.concat({y, g.relu(x)}, 0), 1));
  const Value outer = r.places.at(y).in;
  EXPECT_EQ(outer.op(), Op::Concat);
  EXPECT_EQ(r.places.at(y).offset, Dim(0));
  EXPECT_EQ(r.places.at(a).in, outer);
  EXPECT_EQ(r.places.at(b).in, outer);
  EXPECT_EQ(r.places.at(b).offset, kBatch * 8);
  EXPECT_TRUE(r.assembled.at(y).empty());
}

TEST_F(Place, WhatHasNoMemoryIsPutThereByTheConcat) {
  const Value a = product(1), y = g.concat({a, g.relu(x), product(2)}, 0);
  const Regions r = regions(g.softmax(y, 1));
  ASSERT_EQ(r.assembled.at(y).size(), 1u);
  EXPECT_EQ(r.assembled.at(y)[0].value.op(), Op::Relu);
  EXPECT_EQ(r.assembled.at(y)[0].offset, kBatch * 8);
  EXPECT_EQ(r.places.size(), 2u);
}

TEST_F(Place, AConcatOfColumnsAndOneOfInputsAreKernels) {
  const Value columns = g.concat({product(1), product(2)}, 1);
  EXPECT_TRUE(regions(g.softmax(columns, 1)).assembled.empty());
  const Value inputs = g.concat({x, x, product(1)}, 0);
  EXPECT_TRUE(regions(g.softmax(inputs, 1)).assembled.empty());
}

TEST_F(Place, AnOutputWithoutGapsIsComputedWhereTheCallerWantsIt) {
  const Value a = product(1), flat = g.reshape(a, {kBatch * 2, 4});
  const Regions dense = regions(flat);
  EXPECT_EQ(dense.places.at(a).in, flat);
  EXPECT_TRUE(dense.assembled.contains(flat));
  // Axis 1 may have a capacity above its extent.
  const Value b = g.reshape(a, {8, kBatch});
  EXPECT_TRUE(regions(b).places.empty());
  // An output of its own already, or no step's result.
  g.set_outputs({{"a", a}, {"flat", flat}});
  EXPECT_TRUE(partition(g).places.empty());
  EXPECT_TRUE(regions(g.reshape(x, {kBatch * 8})).places.empty());
}

TEST_F(Place, OperandsOfHostStepsAreViewsOfRows) {
  const Value sizes = g.reduce(Op::ReduceMax, g.input("sizes", {{4, 3}, DType::I64}), {1});
  const Value last = g.slice(g.reshape(sizes, {4}), {Dim(2)}, {Dim(2)}, {1});
  const Symbol m = g.fresh_symbol("m", {0, 9}), n = g.fresh_symbol("n", {0, 9});
  g.apply(Op::Define, {last}, {{"symbols", std::vector<Dim>{m, n}}});
  const Value y = g.expand(g.scalar(DType::F32, 3), {m, n});
  const Regions r = regions(g.reduce(Op::ReduceSum, y, {0, 1}));
  EXPECT_EQ(r.places.at(last).in, sizes);
  EXPECT_EQ(r.places.at(last).offset, Dim(2));
}

TEST_F(Place, AnExtentThatIsKnownAnywayMakesNoOutputLate) {
  // The step gives extents that inputs have: the output is the caller's memory all the same.
  g.apply(Op::Define, {g.input("sizes", {{1}, DType::I64})},
          {{"symbols", std::vector<Dim>{kBatch}}});
  const Value a = product(1), flat = g.reshape(a, {kBatch * 2, 4});
  const Regions r = regions(flat);
  EXPECT_EQ(r.places.at(a).in, flat);
  EXPECT_FALSE(r.places.contains(flat));
}

TEST_F(Place, MemoryWhoseSizeIsFoundLaterHoldsNothingYet) {
  const Value a = product(1);
  const Value counts = g.cast(g.reduce(Op::ReduceMax, a, {0}), DType::I64);
  const Symbol n = g.fresh_symbol("n", {0, 9});
  g.apply(Op::Define, {g.slice(g.reshape(counts, {8}), {Dim(0)}, {Dim(1)}, {1})},
          {{"symbols", std::vector<Dim>{n}}});
  const Value late = g.softmax(g.expand(g.reduce(Op::ReduceSum, x, {0}), {n, 8}), 1);
  const Value y = g.concat({a, late}, 0);
  const Regions r = regions(g.softmax(y, 1));
  EXPECT_FALSE(r.places.contains(a));
  EXPECT_EQ(r.places.at(late).in, y);
  EXPECT_EQ(r.places.at(late).offset, kBatch * 8);
}

}  // namespace
}  // namespace tenon::fuse
