// Steps that may run at the same time and results that overwrite operands, by hand; and that the
// verifier finds what a plan must not do.
#include "plan/waves.h"

#include <gtest/gtest.h>

#include "plan/plan_arena.h"
#include "program/hazards.h"

namespace tenon::plan {
namespace {

using program::BufferKind;
using program::Program;
using program::Step;

const Dim kRows = Symbol("n", {1, 1000});

class WavesTest : public ::testing::Test {
 protected:
  int buffer(const Dim& bytes = kRows * 64) {
    p.arena.push_back({bytes});
    return static_cast<int>(p.arena.size()) - 1;
  }
  int view(int root, const Dim& offset, const Dim& bytes) {
    p.arena.push_back({bytes, -1, program::View{{BufferKind::Arena, root}, offset}});
    return static_cast<int>(p.arena.size()) - 1;
  }
  Step& step(std::vector<int> reads, int write, int64_t flops = 0) {
    Step& s = p.steps.emplace_back();
    for (const int read : reads) s.buffers.push_back({BufferKind::Arena, read});
    s.writes.assign(reads.size(), false);
    s.buffers.push_back({BufferKind::Arena, write});
    s.writes.push_back(true);
    s.flops = flops;
    return s;
  }
  std::vector<bool> waves() {
    plan_arena(p);
    EXPECT_TRUE(program::verify_hazards(p).ok());
    std::vector<bool> joined;
    for (const Step& s : p.steps) joined.push_back(s.with_previous);
    return joined;
  }
  Program p;
};

TEST_F(WavesTest, NeighboursThatOnlyReadTheSameRunTogether) {
  const int x = buffer(), a = buffer(), b = buffer(), c = buffer();
  step({}, x);
  step({x}, a);
  step({x}, b);
  step({a, b}, c);
  EXPECT_EQ(waves(), (std::vector<bool>{false, false, true, false}));
}

TEST_F(WavesTest, PartsOfABufferAreIndependentWhereTheyAreProvablyApart) {
  const int x = buffer(), whole = buffer(kRows * 128), y = buffer();
  const int first = view(whole, 0, kRows * 64), second = view(whole, kRows * 64, kRows * 64);
  const int middle = view(whole, kRows * 64 + 32, 64);
  step({}, x);
  step({x}, first);
  step({x}, second);
  step({x}, middle);
  step({whole}, y);
  EXPECT_EQ(waves(), (std::vector<bool>{false, false, true, false, false}));
}

TEST_F(WavesTest, BuffersOfAWaveShareNoMemory) {
  const int x = buffer(), a = buffer(), b = buffer(), c = buffer(), d = buffer();
  step({}, x);
  step({}, a);
  step({a}, b);
  step({x}, c);  // could go where a was, were it not to run beside the step that reads a
  step({b, c}, d);
  EXPECT_EQ(waves(), (std::vector<bool>{false, true, false, true, false}));
  EXPECT_NE(p.arena[c].slot, p.arena[a].slot);
  EXPECT_NE(p.arena[c].slot, p.arena[b].slot);
}

TEST_F(WavesTest, LargeStepsDoNotPayForWavesWithMemory) {
  const int64_t large = int64_t{1} << 30;
  const int x = buffer(), a = buffer(), b = buffer(), c = buffer(), d = buffer();
  step({}, x, large);
  step({x}, a, large);
  step({a}, b, large);
  step({x}, c, large);
  step({b, c}, d, large);
  EXPECT_EQ(waves(), (std::vector<bool>{false, false, false, false, false}));
  EXPECT_EQ(p.arena[c].slot, p.arena[a].slot);
}

TEST_F(WavesTest, HostStepsEndWaves) {
  const int x = buffer(), a = buffer(), b = buffer();
  step({}, x);
  step({}, a);
  step({}, b);
  p.host_steps.push_back({.before = 1});
  EXPECT_EQ(waves(), (std::vector<bool>{false, false, true}));
}

TEST_F(WavesTest, AResultTakesTheMemoryOfAnOperandThatDies) {
  const int x = buffer(), y = buffer(), z = buffer(), last = buffer();
  step({}, x);
  step({x}, y).in_place = {{1, 0}};
  step({y}, z).in_place = {{1, 0}};
  step({z}, last);
  waves();
  ASSERT_TRUE(p.arena[y].view && p.arena[z].view);
  EXPECT_EQ(p.arena[y].view->root.index, x);
  EXPECT_EQ(p.arena[z].view->root.index, x);
  EXPECT_EQ(p.plan.bytes, kRows * 128);
  EXPECT_NE(p.arena[last].slot, p.arena[x].slot);
}

TEST_F(WavesTest, AnOperandThatIsReadElsewhereIsNotOverwritten) {
  const int x = buffer(), y = buffer(), z = buffer(), last = buffer();
  step({}, x);
  step({x}, y).in_place = {{1, 0}};
  step({x}, z).in_place = {{1, 0}};  // beside the one that reads x too
  step({y, z}, last);
  EXPECT_EQ(waves(), (std::vector<bool>{false, false, true, false}));
  EXPECT_FALSE(p.arena[y].view || p.arena[z].view);
}

TEST_F(WavesTest, WhatTheStepReadsInAnotherWayIsNotOverwritten) {
  const int x = buffer(), part = view(x, 64, 64), y = buffer(), last = buffer();
  step({}, x);
  step({x, part}, y).in_place = {{2, 0}};
  step({y}, last);
  waves();
  EXPECT_FALSE(p.arena[y].view);
}

TEST_F(WavesTest, AViewOfAResultFollowsIt) {
  const int x = buffer(), y = buffer(), part = view(y, 64, 64), last = buffer();
  step({}, x);
  step({x}, y).in_place = {{1, 0}};
  step({part}, last);
  waves();
  EXPECT_EQ(p.arena[part].view->root.index, x);
  EXPECT_EQ(p.arena[part].view->offset, Dim(64));
  EXPECT_EQ(p.arena[part].slot, p.arena[x].slot);
}

TEST_F(WavesTest, TheVerifierFindsSharedBytes) {
  const int x = buffer(), a = buffer(), b = buffer();
  step({}, x);
  step({x}, a);
  step({x}, b);
  waves();
  Program wrong = p;
  wrong.arena[b].slot = wrong.arena[a].slot;  // two results of a wave
  EXPECT_FALSE(program::verify_hazards(wrong).ok());
  wrong = p;
  wrong.steps[1].with_previous = true;  // reads what the step before it writes
  EXPECT_FALSE(program::verify_hazards(wrong).ok());
  wrong = p;
  wrong.steps[0].with_previous = true;
  EXPECT_FALSE(program::verify_hazards(wrong).ok());
  wrong = p;
  wrong.arena[a].slot = wrong.arena[x].slot;  // over its operand, without leave
  EXPECT_FALSE(program::verify_hazards(wrong).ok());
  wrong.steps[1].in_place = {{1, 0}};
  EXPECT_FALSE(program::verify_hazards(wrong).ok());  // its neighbour reads it
  wrong.steps[2].with_previous = false;
  EXPECT_TRUE(program::verify_hazards(wrong).ok());
}

// Parts of one buffer, in no order: as many proofs as there are parts, not as pairs.
TEST_F(WavesTest, TheVerifierTakesManyPartsInOneWave) {
  constexpr int kParts = 20000;
  const int all = buffer(kRows * 64 * kParts);
  p.arena[all].slot = 0;
  for (int i = 0; i < kParts; ++i) {
    const int part = view(all, kRows * 64 * (i * 7919 % kParts), kRows * 64);
    p.arena[part].slot = 0;
    step({}, part).with_previous = i > 0;
  }
  EXPECT_TRUE(program::verify_hazards(p).ok());
  p.arena.back().view->offset = p.arena.back().view->offset + 1;
  EXPECT_FALSE(program::verify_hazards(p).ok());
}

// Which of the two that are read ends first, only a run knows; what is written begins after both.
TEST_F(WavesTest, TheVerifierNeedsNoOrderOfWhatIsRead) {
  const Dim m = Symbol("m", {1, 1000});
  const int all = buffer(kRows * 64 + m * 64 + 64);
  p.arena[all].slot = 0;
  const int first = view(all, 0, kRows * 64), second = view(all, 0, m * 64);
  const int last = view(all, kRows * 64 + m * 64, 64);
  for (const int part : {first, second, last}) p.arena[part].slot = 0;
  step({first, second}, last);
  EXPECT_TRUE(program::verify_hazards(p).ok());
  p.arena[last].view->offset = kRows * 64;
  EXPECT_FALSE(program::verify_hazards(p).ok());
}

}  // namespace
}  // namespace tenon::plan
