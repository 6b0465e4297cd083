// Rotary positions as exporters of language models write them: x * cos + rotate_half(x) * sin with
// the heads first, angles twice in the tables.
#include "tests/fuse/compare.h"

namespace tenon::fuse {
namespace {

struct RotateHalf : testing::Test {
  static constexpr int64_t kHeads = 2, kWidth = 6;
  Graph g;
  const Dim batch = sym::batch(), seq = sym::seq();

  Value half(Value x, int64_t start) {
    return g.slice(x, {0, 0, 0, start}, {batch, kHeads, seq, kWidth / 2}, {1, 1, 1, 1});
  }
  Value heads() {
    const Value x = f32_input(g, "x", {batch, seq, kHeads * kWidth});
    return g.transpose(g.reshape(x, {batch, seq, kHeads, kWidth}), {0, 2, 1, 3});
  }
  // cos or sin of concat(angles, angles), for all heads.
  Value table(Op op, Value angles, Value again) {
    const Value twice = g.concat({angles, again}, 2);
    return g.reshape(g.mul(g.unary(op, twice), f32(g, 1.5)), {batch, 1, seq, kWidth});
  }
  void rotate(Value x, Value cos, Value sin) {
    const Value turned = g.concat({g.unary(Op::Neg, half(x, kWidth / 2)), half(x, 0)}, 3);
    g.set_outputs({{"y", g.add(g.mul(x, cos), g.mul(turned, sin))}});
  }
};

TEST_F(RotateHalf, IsRotary) {
  const Value angles = f32_input(g, "angles", {batch, seq, kWidth / 2});
  rotate(heads(), table(Op::Cos, angles, angles), table(Op::Sin, angles, angles));
  const Graph fused = fuse_rotary(g);
  const Node* rotary = only(fused, Op::Rotary);
  ASSERT_TRUE(rotary);
  EXPECT_EQ(rotary->attributes().integer("heads"), kHeads);
  EXPECT_EQ(rotary->operand(0).op(), Op::Input);  // of packed heads, as they were
  expect_same_results(g, fused, 1e-5);
}

TEST_F(RotateHalf, WithOtherAnglesInTheSecondHalfIsLeftAlone) {
  const Value angles = f32_input(g, "angles", {batch, seq, kWidth / 2});
  const Value others = f32_input(g, "others", {batch, seq, kWidth / 2});
  rotate(heads(), table(Op::Cos, angles, others), table(Op::Sin, angles, others));
  EXPECT_EQ(count(fuse_rotary(g), Op::Rotary), 0);
}

TEST_F(RotateHalf, WithATableForEachHeadIsLeftAlone) {
  const Value angles = f32_input(g, "angles", {batch, kHeads, seq, kWidth / 2});
  const Value twice = g.concat({angles, angles}, 3);
  rotate(heads(), g.unary(Op::Cos, twice), g.unary(Op::Sin, twice));
  EXPECT_EQ(count(fuse_rotary(g), Op::Rotary), 0);
}

}  // namespace
}  // namespace tenon::fuse
