// The arena plan, checked by arithmetic done by hand and by replaying random programs: at any
// shape, no two buffers that are alive together may overlap, and sharing may never cost memory.
#include "plan/plan_arena.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "plan/liveness.h"

namespace tenon::plan {
namespace {

using program::BufferKind;
using program::Program;
using program::Step;

Step make_step(std::vector<int> reads, std::vector<int> writes) {
  Step step;
  for (int index : reads) step.buffers.push_back({BufferKind::Arena, index});
  step.writes.assign(step.buffers.size(), false);
  for (int index : writes) step.buffers.push_back({BufferKind::Arena, index});
  step.writes.resize(step.buffers.size(), true);
  return step;
}

// A chain: step i reads buffer i - 1 and writes buffer i.
Program chain(std::vector<Dim> sizes) {
  Program program;
  for (size_t i = 0; i < sizes.size(); ++i) {
    program.arena.push_back({sizes[i]});
    const int index = static_cast<int>(i);
    program.steps.push_back(
        make_step(i == 0 ? std::vector<int>{} : std::vector<int>{index - 1}, {index}));
  }
  return program;
}

int64_t at(const Dim& dim, int64_t batch, int64_t seq) {
  return dim
      .evaluate([&](const Symbol& s) -> std::optional<int64_t> {
        return s == sym::batch() ? batch : seq;
      })
      .value();
}

TEST(PlanArena, AChainOfEqualBuffersTakesTwoSlots) {
  const Dim size = Dim(sym::batch()) * sym::seq() * 1536;
  Program program = chain({size, size, size, size, size});
  plan_arena(program);
  EXPECT_EQ(program.plan.slot_bytes.size(), 2u);
  EXPECT_EQ(at(program.plan.bytes, 8, 128), 2 * 8 * 128 * 1536);
  EXPECT_EQ(at(program.plan.unshared_bytes, 8, 128), 5 * 8 * 128 * 1536);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(program.arena[i].slot, program.arena[i % 2].slot);
}

TEST(PlanArena, FiguresSayWhatSharingGave) {
  Program program = chain({Dim(64), Dim(128), Dim(64), Dim(64)});
  plan_arena(program);
  const Figures shared = figures(program);
  EXPECT_EQ(shared.arena_size, Dim(192));
  EXPECT_EQ(shared.total_unshared_bytes, Dim(320));
  EXPECT_EQ(shared.bytes_saved, Dim(128));
  EXPECT_EQ(shared.buffers_reused, 2);
}

TEST(PlanArena, RemapGrowsNoBuffer) {
  const Dim a = Dim(sym::batch()) * 64, b = Dim(sym::seq()) * sym::batch() * 64;
  Program program = chain({a, Dim(64), b, Dim(64), a});
  plan_arena(program, {.mode = Mode::Remap});
  EXPECT_EQ(program.arena[4].slot, program.arena[0].slot);
  EXPECT_EQ(program.arena[1].slot, program.arena[3].slot);
  const Dim c = a + Dim(sym::seq()) * 64;  // neither of b and c is provably the larger
  program = chain({c, Dim(64), b});
  plan_arena(program);
  EXPECT_EQ(program.plan.slot_bytes.size(), 2u);
  plan_arena(program, {.mode = Mode::Remap});
  EXPECT_EQ(program.plan.slot_bytes.size(), 3u);
}

TEST(PlanArena, DisabledSharesNothing) {
  Program program = chain({Dim(64), Dim(64), Dim(64)});
  plan_arena(program, {.mode = Mode::Disabled});
  const Figures figures = plan::figures(program);
  EXPECT_EQ(figures.arena_size, Dim(192));
  EXPECT_EQ(figures.bytes_saved, Dim(0));
  EXPECT_EQ(figures.buffers_reused, 0);
}

TEST(PlanArena, AlignmentIsAPowerOfTwoThatKernelsCanCountOn) {
  Program program = chain({Dim(100), Dim(30)});
  plan_arena(program, {.alignment = 256});
  EXPECT_EQ(program.plan.bytes, Dim(512));
  for (const int64_t bad : {0, -64, 32, 96, 8192})
    EXPECT_THROW(plan_arena(program, {.alignment = bad}), Error) << bad;
}

TEST(PlanArena, SizesAreRoundedUpToTheAlignmentAndOffsetsArePrefixSums) {
  Program program = chain({Dim(100), Dim(30)});
  plan_arena(program);
  ASSERT_EQ(program.plan.slot_bytes.size(), 2u);
  EXPECT_EQ(program.plan.slot_bytes[0], Dim(128));
  EXPECT_EQ(program.plan.slot_offsets[1], Dim(128));
  EXPECT_EQ(program.plan.bytes, Dim(192));
}

TEST(PlanArena, ASmallerBufferGoesWhereALargerOneWas) {
  const Dim tokens = Dim(sym::batch()) * sym::seq();
  Program program =
      chain({tokens * 384 * 4, tokens * 1536 * 4, tokens * 384 * 4, tokens * 384 * 4});
  plan_arena(program);
  EXPECT_EQ(at(program.plan.bytes, 2, 10), 20 * (1536 + 384) * 4);
}

TEST(PlanArena, SizesThatNoProofComparesShareTheLargerOfTheTwo) {
  const Dim a = Dim(sym::batch()) * sym::batch() * sym::seq() * 64,
            b = Dim(sym::batch()) * sym::seq() * sym::seq() * 64;
  Program program = chain({a, Dim(64), b});
  plan_arena(program);
  EXPECT_EQ(program.arena[0].slot, program.arena[2].slot);
  EXPECT_EQ(at(program.plan.bytes, 2, 10), 64 + 2 * 10 * 10 * 64);
  EXPECT_EQ(at(program.plan.bytes, 10, 2), 64 + 10 * 10 * 2 * 64);
}

TEST(PlanArena, ABufferReadByAStepIsNotReusedForWhatTheStepWrites) {
  Program program = chain({Dim(64), Dim(64)});
  plan_arena(program);
  EXPECT_NE(program.arena[0].slot, program.arena[1].slot);
}

TEST(PlanArena, BuffersThatNoStepUsesTakeNoMemory) {
  Program program = chain({Dim(64)});
  program.arena.push_back({Dim(1 << 20)});
  plan_arena(program);
  EXPECT_EQ(program.arena[1].slot, -1);
  EXPECT_EQ(program.plan.bytes, Dim(64));
}

TEST(PlanArena, ABufferLivesAsLongAsItsViews) {
  Program program = chain({Dim(64), Dim(64), Dim(64), Dim(64)});
  program.arena[1].view = program::View{{BufferKind::Arena, 0}, Dim(0)};
  program.arena[2].view = program::View{{BufferKind::Output, 0}, Dim(0)};
  plan_arena(program);
  EXPECT_EQ(program.arena[1].slot, program.arena[0].slot);
  EXPECT_EQ(program.arena[2].slot, -1);
  EXPECT_EQ(program.arena[3].slot, program.arena[0].slot);  // read last by step 2
  EXPECT_EQ(program.plan.bytes, Dim(64));
  program.steps[3] = make_step({1}, {3});
  plan_arena(program);
  EXPECT_NE(program.arena[3].slot, program.arena[0].slot);
}

TEST(PlanArena, ReadingBeforeWritingIsAnInternalError) {
  Program program = chain({Dim(64), Dim(64)});
  std::swap(program.steps[0], program.steps[1]);
  EXPECT_THROW(plan_arena(program), Error);
}

TEST(PlanArena, ABufferOfNoBytesNeedsNoWriter) {
  Program program = chain({Dim(0), Dim(64)});
  program.steps.erase(program.steps.begin());
  plan_arena(program);
  EXPECT_EQ(program.plan.bytes, Dim(64));
}

TEST(PlanArena, AStepMayNotReadWhatThePrologueLeftInTheArena) {
  Program program = chain({Dim(64), Dim(64)});
  program.prologue.push_back(program.steps[0]);
  program.steps.erase(program.steps.begin());
  EXPECT_THROW(plan_arena(program), Error);
}

Program random_program(std::mt19937& random, int buffers) {
  const Dim batch = sym::batch(), seq = sym::seq();
  const Dim kinds[] = {batch * seq, batch * seq * seq, batch,          seq,
                       Dim(1),      batch * (seq + 3), max(batch, seq)};
  std::vector<Dim> sizes;
  for (int i = 0; i < buffers; ++i)
    sizes.push_back(kinds[random() % 7] * static_cast<int64_t>(random() % 1000 + 1));
  Program program = chain(sizes);
  for (int i = 2; i < buffers; ++i) {  // longer lives: later steps read earlier buffers too
    if (random() % 3 != 0) continue;
    program.steps[i].buffers.push_back({BufferKind::Arena, static_cast<int>(random() % (i - 1))});
    program.steps[i].writes.push_back(false);
  }
  return program;
}

TEST(PlanArena, NoTwoLiveBuffersOverlapAtAnyShape) {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    Program program = random_program(random, 40);
    plan_arena(program);
    const std::vector<Life> lives = arena_lives(program, timeline(program));
    for (const auto& [batch, seq] : {std::pair{1, 1}, {1, 300}, {64, 2}, {7, 33}}) {
      EXPECT_LE(at(program.plan.bytes, batch, seq), at(program.plan.unshared_bytes, batch, seq));
      for (size_t i = 0; i < lives.size(); ++i) {
        const auto bytes_of = [&](size_t buffer) {
          const program::ArenaBuffer& b = program.arena[buffer];
          const int64_t begin = at(program.plan.slot_offsets[b.slot] + b.offset, batch, seq);
          return std::pair(begin, begin + at(b.bytes, batch, seq));
        };
        const auto [begin, end] = bytes_of(i);
        const int slot = program.arena[i].slot;
        const Dim slot_end = program.plan.slot_offsets[slot] + program.plan.slot_bytes[slot];
        EXPECT_GE(begin, at(program.plan.slot_offsets[slot], batch, seq));
        EXPECT_LE(end, at(slot_end, batch, seq));
        EXPECT_EQ(begin % 64, 0);
        for (size_t j = 0; j < i; ++j) {
          if (lives[i].begin > lives[j].end || lives[j].begin > lives[i].end) continue;
          const auto [other_begin, other_end] = bytes_of(j);
          EXPECT_TRUE(end <= other_begin || other_end <= begin) << i << " and " << j;
        }
      }
    }
  }
}

// As in a deep model: sizes of few kinds, read by the next step and by one of the next fifty.
Program deep_program(std::mt19937& random, int buffers) {
  const Dim batch = sym::batch(), seq = sym::seq();
  const Dim kinds[] = {batch * seq, batch * seq * seq, batch, batch * (seq + 3), max(batch, seq)};
  std::vector<Dim> sizes;
  for (int i = 0; i < buffers; ++i)
    sizes.push_back(kinds[random() % 5] * static_cast<int64_t>(random() % 8 + 1));
  Program program = chain(sizes);
  for (int i = 50; i < buffers; ++i) {
    const auto earlier = static_cast<int>(random() % 48) + 2;
    program.steps[static_cast<size_t>(i)].buffers.push_back({BufferKind::Arena, i - earlier});
    program.steps[static_cast<size_t>(i)].writes.push_back(false);
  }
  return program;
}

TEST(PlanArena, FourTimesTheBuffersCostLittleMoreThanFourTimesAsMuch) {
  std::mt19937 random(3);
  const auto cost = [&](int buffers) {
    Program program = deep_program(random, buffers);
    const PlanCost cost = plan_arena(program);
    return static_cast<double>(cost.comparisons + cost.slots_tried);
  };
  const double few = cost(5000), many = cost(20000);
  EXPECT_GT(few, 5000);
  EXPECT_LE(many, 4.65 * few);  // 4 * log 20000 / log 5000
}

TEST(PlanArena, AHundredThousandBuffersOfAChainStillTakeTwoSlots) {
  Program program = chain(std::vector<Dim>(100000, Dim(sym::batch()) * 64));
  plan_arena(program);
  EXPECT_EQ(program.plan.slot_bytes.size(), 2u);
}

}  // namespace
}  // namespace tenon::plan
