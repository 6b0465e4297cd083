// Choices: what a schedule decides is data, every legal decision gives the same bits, and none
// changes how weights are packed.
#include "schedule/choice.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "base/error.h"
#include "tests/full.h"
#include "tests/schedule/run_kernel.h"

namespace tenon::kernel_test {
namespace {

using schedule::Choice;
using schedule::Decision;

TEST(Choice, IsPrintedAndParsedWithoutLoss) {
  const Choice choice{{{Decision::RowBlock, 336}, {Decision::ColumnGroups, 8}}};
  EXPECT_EQ(to_string(choice), "row_block=336 column_groups=8");
  EXPECT_EQ(Choice::parse("column_groups=8  row_block=336").value(), choice);
  EXPECT_EQ(Choice::parse("").value(), Choice{});
}

TEST(Choice, RefusesWhatIsNone) {
  for (const char* text : {"row_block", "row_block=", "row_block=8x", "=8", "rows=8", "row_block 8",
                           "row_block=8 row_block=9", "row_block=99999999999999999999"}) {
    EXPECT_FALSE(Choice::parse(text).ok()) << text;
  }
}

TEST(Decisions, TakesAChoiceThatIsLegalAndTheModelsElse) {
  schedule::Decisions decisions(
      Choice{{{Decision::RowBlock, 24}, {Decision::Strip, 100}, {Decision::Square, 64}}});
  EXPECT_EQ(decisions.decide(Decision::RowBlock, 36, {12, 24, 48}), 24);
  EXPECT_EQ(decisions.decide(Decision::Strip, 256, {64, 128}), 256);
  EXPECT_EQ(decisions.decide(Decision::ColumnGroups, 8, {1, 8}), 8);
  EXPECT_EQ(decisions.decide(Decision::RowBlock, 36, {12, 24, 48}), 24);
  const auto made = decisions.take();
  ASSERT_EQ(made.size(), 3u);
  EXPECT_EQ(made[0].options, (std::vector<int64_t>{12, 24, 36, 48}));
  EXPECT_EQ(made[0].analytic, 36);
  EXPECT_EQ(to_string(choice_of(made)), "row_block=24 column_groups=8 strip=256");
  EXPECT_TRUE(obeys(made, {{{Decision::RowBlock, 24}}}));
  EXPECT_FALSE(obeys(made, {{{Decision::Strip, 100}}}));  // not legal
  EXPECT_FALSE(obeys(made, {{{Decision::Square, 64}}}));  // not asked
  EXPECT_EQ(neighbours(made).size(), 3u + 1u + 2u);
}

class ChoiceTest : public ::testing::TestWithParam<Case> {};

// Choices one decision away from the model's and, from some of them, one more.
std::vector<Choice> walk(const kernel::Kernel& lowered, const schedule::Target& target) {
  std::mt19937 random(1);
  std::vector<Choice> result = neighbours(schedule::schedule(lowered, target).decided);
  std::shuffle(result.begin(), result.end(), random);
  if (!full_tests()) result.resize(std::min<size_t>(result.size(), 3));
  for (size_t i = 0, first = result.size(); i < first; i += 2) {
    const auto further = neighbours(schedule::schedule(lowered, target, result[i]).decided);
    if (!further.empty()) result.push_back(further[random() % further.size()]);
  }
  return result;
}

TEST_P(ChoiceTest, GivesTheBitsOfTheLoweredKernel) {
  const Case& test = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  for (const auto& [name, target] : targets()) {
    for (const Choice& choice : walk(lowered, target)) {
      const schedule::Scheduled scheduled = schedule::schedule(lowered, target, choice);
      EXPECT_TRUE(obeys(scheduled.decided, choice)) << to_string(choice);
      EXPECT_NO_THROW(kernel::verify(scheduled.kernel)) << to_string(choice);
      const auto runs = std::span(test.runs).last(
          full_tests() ? test.runs.size() : std::min<size_t>(test.runs.size(), 2));
      for (const Extents& extents : runs) {
        Memory expected = random_memory(lowered, extents, test.indices), actual = expected;
        run_lowered(expanded(lowered), extents, expected);
        EXPECT_EQ(run_scheduled(scheduled, extents, actual, interpret), Fault{});
        ASSERT_EQ(difference(expected, actual), "")
            << name << " " << text_of(extents) << to_string(choice);
      }
    }
  }
}

TEST_P(ChoiceTest, LeavesPanelsAsTheyAre) {
  const kernel::Kernel lowered = kernel::parse(GetParam().text);
  for (const auto& [name, target] : targets()) {
    const auto packs_of = [&](const Choice& choice) {
      std::vector<std::string> texts;
      for (const kernel::Kernel& pack : schedule::schedule(lowered, target, choice).packs)
        texts.push_back(kernel::canonical_text(pack));
      return texts;
    };
    for (const Choice& choice : walk(lowered, target))
      EXPECT_EQ(packs_of(choice), packs_of({})) << name << " " << to_string(choice);
  }
}

// What is printed of a schedule's decisions makes that schedule again.
TEST_P(ChoiceTest, IsAllThatASearchNeedsToKeep) {
  const kernel::Kernel lowered = kernel::parse(GetParam().text);
  for (const auto& [name, target] : targets()) {
    for (const Choice& choice : walk(lowered, target)) {
      const auto once = schedule::schedule(lowered, target, choice);
      const Choice kept = Choice::parse(to_string(choice_of(once.decided))).value();
      EXPECT_EQ(kernel::print(schedule::schedule(lowered, target, kept).kernel),
                kernel::print(once.kernel))
          << name << " " << to_string(choice);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ChoiceTest, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace tenon::kernel_test
