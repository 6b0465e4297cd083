// Shape values: the arithmetic on shapes that exported models do stays symbolic.
#include <gtest/gtest.h>

#include "tests/graph/tensors.h"

namespace tenon::graph {
namespace {

struct ShapeValues : testing::Test {
  Graph g;
  Dim batch = sym::batch(), seq = sym::seq();
  Value x = g.input("x", {{batch, seq, 384}, DType::F32});
  Value shape = g.shape_of(x);

  static std::vector<Dim> known(const Value& value) {
    EXPECT_TRUE(value.shape_value().has_value());
    return value.shape_value().value_or(std::vector<Dim>());
  }
  Value pick(std::vector<int64_t> indices) {
    return g.gather(shape, g.integers(std::move(indices)), 0);
  }
};

TEST_F(ShapeValues, BeginAtShapeOfAndAtIntegerConstants) {
  EXPECT_EQ(known(shape), (std::vector<Dim>{batch, seq, 384}));
  EXPECT_EQ(known(g.integers({3, -1})), (std::vector<Dim>{3, -1}));
  EXPECT_EQ(g.dims({2, 3}).op(), Op::Constant);
  EXPECT_FALSE(x.shape_value().has_value());
}

TEST_F(ShapeValues, GoThroughGatherConcatSliceReshapeAndCast) {
  const Value first = pick({0}), last = pick({-1});
  EXPECT_EQ(known(first), std::vector<Dim>{batch});
  EXPECT_EQ(known(g.concat({first, g.integers({12}), last}, 0)),
            (std::vector<Dim>{batch, 12, 384}));
  EXPECT_EQ(known(g.slice(shape, {1}, {2}, {1})), (std::vector<Dim>{seq, 384}));
  EXPECT_EQ(known(g.slice(shape, {2}, {3}, {-1})), (std::vector<Dim>{384, seq, batch}));
  EXPECT_EQ(known(g.reshape(first, {})), std::vector<Dim>{batch});
  EXPECT_EQ(known(g.cast(g.cast(shape, DType::I32), DType::I64)),
            (std::vector<Dim>{batch, seq, 384}));
}

TEST_F(ShapeValues, GoThroughArithmeticWithBroadcasting) {
  const Value pair = pick({0, 1}), two = g.integers({2});
  EXPECT_EQ(known(g.mul(pair, two)), (std::vector<Dim>{batch * 2, seq * 2}));
  EXPECT_EQ(known(g.add(pair, two)), (std::vector<Dim>{batch + 2, seq + 2}));
  EXPECT_EQ(known(g.sub(pair, two)), (std::vector<Dim>{batch - 2, seq - 2}));
  EXPECT_EQ(known(g.div(pair, two)), (std::vector<Dim>{floordiv(batch, 2), floordiv(seq, 2)}));
  EXPECT_EQ(known(g.binary(Op::Max, pair, two)), (std::vector<Dim>{max(batch, 2), max(seq, 2)}));
  EXPECT_FALSE(g.div(g.sub(pair, two), two).shape_value().has_value());  // may be negative
}

TEST_F(ShapeValues, GoThroughRemaindersSumsAndProducts) {
  const Value pair = pick({0, 1}), two = g.integers({2});
  EXPECT_EQ(known(g.binary(Op::Mod, pair, two)), (std::vector<Dim>{mod(batch, 2), mod(seq, 2)}));
  EXPECT_EQ(known(g.reduce(Op::ReduceProd, pair, {0})), std::vector<Dim>{batch * seq});
  EXPECT_EQ(known(g.reduce(Op::ReduceSum, pair, {0})), std::vector<Dim>{batch + seq});
  EXPECT_FALSE(g.binary(Op::Mod, pair, g.sub(two, pair)).shape_value().has_value());  // maybe by 0
  EXPECT_FALSE(g.binary(Op::Remainder, g.sub(pair, two), two).shape_value().has_value());
}

TEST_F(ShapeValues, GiveEachPartOfASplitItsOwn) {
  const std::vector<Value> parts = g.split(shape, 0, {1, 2});
  EXPECT_EQ(known(parts[0]), std::vector<Dim>{batch});
  EXPECT_EQ(known(parts[1]), (std::vector<Dim>{seq, 384}));
}

TEST_F(ShapeValues, ReplaceMinusOneInAnExpandTargetByTheShape) {
  const Value target = g.concat({g.integers({-1}), pick({1, 2})}, 0);
  const Value is_kept = g.binary(Op::Equal, target, g.integers({-1, -1, -1}));
  EXPECT_EQ(known(is_kept), (std::vector<Dim>{1, 0, 0}));
  EXPECT_EQ(known(g.apply(Op::Where, {is_kept, shape, target})),
            (std::vector<Dim>{batch, seq, 384}));
}

TEST_F(ShapeValues, AreAbsentWhereNothingIsKnown) {
  const Value data = g.input("data", {{3}, DType::I64});
  EXPECT_FALSE(data.shape_value().has_value());
  EXPECT_FALSE(g.add(data, shape).shape_value().has_value());
  EXPECT_FALSE(g.binary(Op::Equal, pick({0}), pick({1})).shape_value().has_value());
  EXPECT_FALSE(g.gather(shape, g.integers({7}), 0).shape_value().has_value());
  const Value huge = g.integers({INT64_MAX});
  EXPECT_FALSE(g.add(huge, huge).shape_value().has_value());
  EXPECT_FALSE(g.expand(huge, {65}).shape_value().has_value());
  EXPECT_TRUE(g.expand(huge, {64}).shape_value().has_value());
}

}  // namespace
}  // namespace tenon::graph
