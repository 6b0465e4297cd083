// A schedule changes how a kernel computes and not one bit of what: each lowered kernel against its
// scheduled form, both on the interpreter, for the tiles of AVX2 and of AVX-512.
#include "schedule/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "tests/schedule/run_kernel.h"

namespace tenon::kernel_test {
namespace {

class ScheduleTest : public ::testing::TestWithParam<Case> {};

TEST_P(ScheduleTest, IsLegalAsTheLoweredKernelIs) {
  const kernel::Kernel lowered = kernel::parse(GetParam().text);
  EXPECT_NO_THROW(kernel::verify(lowered));
  for (const auto& [name, target] : all_targets()) {
    const schedule::Scheduled scheduled = schedule::schedule(lowered, target);
    EXPECT_EQ(scheduled.kernel.level, kernel::Level::Scheduled);
    EXPECT_NO_THROW(kernel::verify(scheduled.kernel)) << kernel::print(scheduled.kernel);
    for (const kernel::Kernel& pack : scheduled.packs) {
      EXPECT_NO_THROW(kernel::verify(pack)) << kernel::print(pack);
    }
  }
}

TEST_P(ScheduleTest, GivesTheBitsOfTheLoweredKernel) {
  const Case& test = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  for (const auto& [name, target] : all_targets()) {
    const schedule::Scheduled scheduled = schedule::schedule(lowered, target);
    for (const Extents& extents : test.runs) {
      Memory expected = random_memory(lowered, extents, test.indices), actual = expected;
      run_lowered(expanded(lowered), extents, expected);
      const Fault fault = run_scheduled(scheduled, extents, actual, interpret);
      EXPECT_EQ(fault, Fault{}) << name << " " << text_of(extents);
      ASSERT_EQ(difference(expected, actual), "") << name << " " << text_of(extents);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, ScheduleTest, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.name; });

// The same text for a kernel of any level that was parsed from it.
TEST(Schedule, IsPrintedAndParsedWithoutLoss) {
  for (const Case& test : all_cases()) {
    for (const auto& [name, target] : all_targets()) {
      const kernel::Kernel k = schedule::schedule(kernel::parse(test.text), target).kernel;
      EXPECT_EQ(kernel::print(kernel::parse(kernel::print(k))), kernel::print(k)) << test.name;
    }
  }
}

TEST(Schedule, IsTheSameEveryTime) {
  for (const Case& test : all_cases()) {
    for (const auto& [name, target] : all_targets()) {
      const auto once = schedule::schedule(kernel::parse(test.text), target);
      const auto again = schedule::schedule(kernel::parse(test.text), target);
      EXPECT_EQ(kernel::print(once.kernel), kernel::print(again.kernel)) << test.name;
    }
  }
}

// One K-loop body in at most four row counts, the last of them 1 so that any number is covered.
TEST(Schedule, ContractionsHaveAtMostFourRowCounts) {
  for (const auto& [name, target] : targets()) {
    EXPECT_LE(target.row_steps.size(), 4u) << name;
    EXPECT_EQ(target.row_steps.back(), 1) << name;
    const auto scheduled = schedule::schedule(kernel::parse(linear_case(33, 40, {}).text), target);
    int specialized = 0;
    kernel::for_each(scheduled.kernel.body, [&](const kernel::Stmt& stmt) {
      if (const auto* s = stmt.as<kernel::Specialize>()) {
        ++specialized;
        EXPECT_LE(s->values.size(), 4u);
      }
    });
    EXPECT_EQ(specialized, 1) << name << "\n" << kernel::print(scheduled.kernel);
  }
}

// Panels depend on the weight alone: two kernels that share it share what is packed, whatever else
// they compute.
TEST(Schedule, PackedPanelsDependOnTheWeightOnly) {
  const std::string plain = R"(kernel matmul lowered dims rows: 1..77
  buffer x: f32[rows*33] global argument 0
  buffer w: f32[1320] global argument 1 constant
  buffer y: f32[rows*40] global argument 2 written
  parallel i in rows
    parallel j in 40
      y[i*40 + j] = reduce_fma(k in 33, x[i*33 + k], w[j + k*40], f32(0))
)";
  for (const auto& [name, target] : targets()) {
    const auto one = schedule::schedule(kernel::parse(linear_case(33, 40, {}).text), target);
    const auto other = schedule::schedule(kernel::parse(plain), target);
    ASSERT_EQ(one.packs.size(), 1u);
    ASSERT_EQ(other.packs.size(), 1u);
    EXPECT_TRUE(one.packs[0].buffers.back().constant);
    EXPECT_EQ(kernel::canonical_text(one.packs[0]), kernel::canonical_text(other.packs[0]));
  }
}

// A plain schedule has no statement but loops and stores, and reads weights where they are.
TEST(Schedule, APlainOneHasNeitherTilesNorPanels) {
  schedule::Target plain = targets().front().target;
  plain.plain = true;
  for (const Case& test : all_cases()) {
    const auto scheduled = schedule::schedule(kernel::parse(test.text), plain);
    EXPECT_TRUE(scheduled.packs.empty()) << test.name;
    const std::string text = kernel::print(scheduled.kernel);
    for (const char* part : {" mma ", "ladder", "specialize", "prefetch", " packed "})
      EXPECT_EQ(text.find(part), std::string::npos) << part << "in\n" << text;
  }
}

// The second time through a row, and not the first, which memory keeps busy.
TEST(Schedule, TheLastReductionOfARowPrefetchesWhatIsWrittenNext) {
  const auto cases = all_cases();
  const auto norm =
      std::ranges::find_if(cases, [](const Case& test) { return test.name == "LayerNorm"; });
  ASSERT_NE(norm, cases.end());
  const std::string text =
      kernel::print(schedule::schedule(kernel::parse(norm->text), targets().front().target).kernel);
  const size_t prefetch = text.find("prefetch");
  ASSERT_NE(prefetch, std::string::npos) << text;
  EXPECT_GT(prefetch, text.find("mean[0] =")) << text;
  EXPECT_LT(prefetch, text.find("rstd[0] =")) << text;
  EXPECT_EQ(text.find("prefetch", prefetch + 1), std::string::npos) << text;
}

// Three arrays in step are read ahead, each by its own step; fewer, or one that stays in a cache,
// are left to the hardware.
TEST(Schedule, SeveralArraysAreReadAhead) {
  const auto prefetches = [](const std::string& value, const std::string& let = "") {
    const kernel::Kernel k = kernel::parse(
        "kernel k lowered dims m: 1..4096, n: 1..4096\n"
        "  buffer a: f32[m*n] global argument 0\n"
        "  buffer b: f32[m*n] global argument 1\n"
        "  buffer c: f32[m*n] global argument 2\n"
        "  buffer row: f32[n] global argument 3\n"
        "  buffer y: f32[m*n] global argument 4 written\n"
        "  parallel i in m\n"
        "    parallel j in n\n" +
        let + "      y[i*n + j] = " + value + "\n");
    int count = 0;
    for_each(schedule::schedule(k, targets().front().target).kernel.body,
             [&](const kernel::Stmt& stmt) { count += stmt.as<kernel::Prefetch>() ? 1 : 0; });
    return count;
  };
  EXPECT_EQ(prefetches("add(mul(a[i*n + j], b[i*n + j]), c[i*n + j])"), 3);
  EXPECT_EQ(prefetches("add(mul(a[i*n + j], b[i*n + j]), row[j])"), 0);
  EXPECT_EQ(prefetches("add(a[i*n + j], b[i*n + j])"), 0);
  const std::string gathered = "add(mul(a[i*n + j], b[i*n + j]), c[g*n + j])";
  EXPECT_EQ(prefetches(gathered, "      let g in m of c = cast(i64, row[j])\n"), 0);
}

// A symbolic length never sizes a stack buffer, and scores never reach memory beyond a tile.
TEST(Schedule, AttentionKeepsScoresOnTheStack) {
  for (const auto& [name, target] : targets()) {
    const kernel::Kernel k =
        schedule::schedule(kernel::parse(attention_case(4, 2, 32).text), target).kernel;
    for (const kernel::Buffer& buffer : k.buffers) {
      if (buffer.storage == kernel::Storage::Stack || buffer.storage == kernel::Storage::Register) {
        ASSERT_TRUE(buffer.elements.is_const()) << buffer.name;
        EXPECT_LE(buffer.elements.const_value() * size_of(buffer.dtype), 256 << 10) << buffer.name;
      }
      EXPECT_TRUE(!buffer.written || buffer.source_index == 4) << buffer.name;
    }
    // Packed keys and values of one head may lie in scratch, where there are many queries; a row of
    // scores per query may not.
    const auto scratch = [&](int64_t queries) {
      return evaluate(k.scratch_bytes(), {{"b", 3}, {"kv", 300}, {"q", queries}});
    };
    EXPECT_EQ(scratch(1), 0);
    EXPECT_EQ(scratch(40), scratch(500)) << k.scratch_bytes().to_string();
  }
}

// With as many keys as queries, few queries have few keys: no second version of the kernel, which
// would read them where they lie, is compiled.
TEST(Schedule, AttentionHasOneVersionWhereKeysAreAsManyAsQueries) {
  const std::string any_keys = attention_case(4, 2, 32).text;
  const auto versions = [](const std::string& text, const schedule::Target& target) {
    int ladders = 0;
    for_each(schedule::schedule(kernel::parse(text), target).kernel.body,
             [&](const kernel::Stmt& stmt) {
               const auto* loop = stmt.as<kernel::Loop>();
               ladders += loop && loop->kind == kernel::LoopKind::Ladder ? 1 : 0;
             });
    return ladders;
  };
  std::string own_keys = any_keys;
  own_keys.erase(own_keys.find("kv: 1..512, "), std::string("kv: 1..512, ").size());
  own_keys = std::regex_replace(own_keys, std::regex("\\bkv\\b"), "q");
  for (const auto& [name, target] : targets()) {
    EXPECT_EQ(versions(any_keys, target), 2) << name;
    EXPECT_EQ(versions(own_keys, target), 1) << name;
  }
}

// One tile after the other goes through the panels of a group, unless those are too many for the
// cache: then one panel after the other is there for all tiles.
TEST(Schedule, PanelsThatStayInTheCacheServeATileTogether) {
  for (const auto& [name, target] : targets()) {
    const auto ladder_is_outside = [&](int64_t depth) {
      const kernel::Kernel k =
          schedule::schedule(kernel::parse(linear_case(depth, 1024, {}).text), target).kernel;
      const kernel::Loop& inside = *(*k.body[0].as<kernel::Loop>()->body)[0].as<kernel::Loop>();
      return inside.kind == kernel::LoopKind::Ladder;
    };
    EXPECT_TRUE(ladder_is_outside(64)) << name;
    EXPECT_FALSE(ladder_is_outside(16384)) << name;
  }
}

// Rows of queries and values lie pages apart.
TEST(Schedule, AttentionAsksForTheRowsOfItsNextTile) {
  const kernel::Kernel k =
      schedule::schedule(kernel::parse(attention_case(4, 2, 32).text), targets().front().target)
          .kernel;
  const std::string text = kernel::print(k);
  for (const char* buffer : {"prefetch qs[", "prefetch ks[", "prefetch vs["})
    EXPECT_NE(text.find(buffer), std::string::npos) << buffer << "\n" << text;
}

// What is the same for all columns (the length of a row in a mask) is no row that is turned into a
// column: it is read once for a vector of them.
TEST(Schedule, AValueOfARowIsNotTurned) {
  const auto text = [](const std::string& load) {
    return kernel::print(
        schedule::schedule(kernel::parse("kernel k lowered dims m: 1..4096, n: 1..4096\n"
                                         "  buffer a: f32[m*n] global argument 0\n"
                                         "  buffer y: f32[m*n] global argument 1 written\n"
                                         "  parallel i in m\n"
                                         "    parallel j in n\n"
                                         "      y[i*n + j] = " +
                                         load + "\n"),
                           targets().front().target)
            .kernel);
  };
  EXPECT_NE(text("a[i + j*m]").find("f32[256] register"), std::string::npos);
  EXPECT_EQ(text("a[i]").find("register"), std::string::npos) << text("a[i]");
}

}  // namespace
}  // namespace tenon::kernel_test
