// What is a causal mask, and what only looks like one.
#include "fuse/causal_mask.h"

#include <gtest/gtest.h>

#include <limits>

namespace tenon::fuse {
namespace {

using graph::Graph;
using graph::Op;
using graph::Value;

struct CausalMasks : testing::Test {
  Graph g;

  Value range(int64_t count) {
    return g.apply(Op::Range, {g.dims({0}, true), g.dims({count}, true), g.dims({1}, true)},
                   {{"shape", std::vector<Dim>{count}}});
  }
  Value queries(int64_t count) { return g.reshape(range(count), {count, 1}); }
  // 0 where a <= b, else -inf.
  Value mask(Value a, Value b) {
    const double inf = std::numeric_limits<double>::infinity();
    return g.apply(Op::Where, {g.binary(Op::LessEqual, a, b), g.scalar(DType::F32, 0),
                               g.scalar(DType::F32, -inf)});
  }
};

TEST_F(CausalMasks, AreFound) {
  EXPECT_TRUE(as_causal_mask(mask(range(4), queries(4)), 4, 4));
  const Value later = g.add(queries(2), g.dims({1}, true));  // two queries after one key
  EXPECT_TRUE(as_causal_mask(mask(range(3), later), 2, 3));
}

TEST_F(CausalMasks, OfAnotherOffsetAreNot) {
  EXPECT_FALSE(as_causal_mask(mask(range(3), queries(2)), 2, 3));
}

TEST_F(CausalMasks, CountAlongOneAxis) {
  const Value matrix = g.reshape(range(6), {2, 3});
  const Value later = g.add(queries(2), g.dims({1}, true));
  EXPECT_FALSE(as_causal_mask(mask(matrix, later), 2, 3));
}

TEST_F(CausalMasks, CountInIntegersWithASign) {
  const auto as = [&](Value value, DType dtype) { return g.cast(value, dtype); };
  const Value flags = as(as(range(4), DType::Bool), DType::I64);
  EXPECT_FALSE(as_causal_mask(mask(g.reshape(flags, {1, 4}), queries(4)), 4, 4));
  const Value difference = g.sub(as(queries(4), DType::U64), as(range(4), DType::U64));
  const Value zero = as(g.dims({0}, true), DType::U64);
  EXPECT_FALSE(as_causal_mask(mask(zero, difference), 4, 4));
}

TEST_F(CausalMasks, WindowsBeyondAllKeysAreLeft) {
  const Value far = g.sub(queries(4), g.dims({int64_t{1} << 40}, true));
  const Value both = g.binary(Op::And, g.binary(Op::LessEqual, range(4), queries(4)),
                              g.binary(Op::LessEqual, far, range(4)));
  const double inf = std::numeric_limits<double>::infinity();
  const Value wide =
      g.apply(Op::Where, {both, g.scalar(DType::F32, 0), g.scalar(DType::F32, -inf)});
  EXPECT_FALSE(as_causal_mask(wide, 4, 4));
}

}  // namespace
}  // namespace tenon::fuse
