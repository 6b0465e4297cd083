// Machine code gives the bits that the interpreter gives, on AVX2 and on AVX-512, whatever
// generated it, and reads and writes nothing outside its arguments.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/codegen/compiled_kernel.h"

namespace tenon::kernel_test {
namespace {

class GenerateTest : public ::testing::TestWithParam<Case> {};

TEST_P(GenerateTest, GivesTheBitsOfTheLoweredKernel) {
  const Case& test = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  std::vector<Way> all = ways();
  all.push_back(all.front());
  all.back().name += ", plain";
  all.back().target.plain = true;
  for (const Way& way : all) {
    const schedule::Scheduled scheduled = schedule::schedule(lowered, way.target);
    const CompiledSchedule compiled(scheduled, way);
    if (!runs_here(way)) continue;
    for (const Extents& extents : test.runs) {
      Memory expected = random_memory(lowered, extents, test.indices), actual = expected;
      run_lowered(expanded(lowered), extents, expected);
      const Fault fault = run_scheduled(scheduled, extents, actual, compiled.runner());
      EXPECT_EQ(fault, Fault{}) << way.name << " " << text_of(extents);
      ASSERT_EQ(difference(expected, actual), "") << way.name << " " << text_of(extents);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, GenerateTest, ::testing::ValuesIn(all_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(Generate, IsTheSameEveryTime) {
  for (const Case& test : {linear_case(33, 40, {}), attention_case(4, 2, 32)}) {
    for (const Way& way : ways()) {
      const kernel::Kernel k = schedule::schedule(kernel::parse(test.text), way.target).kernel;
      EXPECT_EQ(way.generator->generate(k, way.isa)->digest,
                way.generator->generate(k, way.isa)->digest);
    }
  }
}

// NaN, infinities, zeros of both signs and denormals: the definitions of max and min, of
// comparisons and of casts hold for them too.
TEST(Generate, SpecialValuesGiveTheBitsOfTheInterpreter) {
  const kernel::Kernel lowered = kernel::parse(R"(kernel special lowered dims n: 1..4096
  buffer x: f32[n] global argument 0
  buffer z: f32[n] global argument 1
  buffer y: f32[n*6] global argument 2 written
  parallel i in n
    parallel j in 6
      %0 = select(in_range(j - 1, 1), min(x[i], z[i]), max(x[i], z[i]))
      %1 = select(in_range(j - 2, 1), exp(x[i]), %0)
      %2 = select(in_range(j - 3, 1), tanh(x[i]), %1)
      %3 = select(in_range(j - 4, 1), cast(f32, le(x[i], z[i])), %2)
      y[i*6 + j] = select(in_range(j - 5, 1), erf(x[i]), %3)
)");
  const float inf = std::numeric_limits<float>::infinity();
  const std::vector<float> special = {0.0f,          -0.0f, 1e-40f,  -1e-40f, inf,     -inf,
                                      std::nanf(""), 88.8f, -104.0f, -87.4f,  3.4e38f, 1.0f};
  const auto n = static_cast<int64_t>(special.size() * special.size());
  const Extents extents = {{"n", n}};
  Memory memory = random_memory(lowered, extents, {0, 0});
  for (size_t i = 0; i < static_cast<size_t>(n); ++i) {
    std::memcpy(&memory[0][i * 4], &special[i % special.size()], 4);
    std::memcpy(&memory[1][i * 4], &special[i / special.size()], 4);
  }
  Memory expected = memory;
  run_lowered(expanded(lowered), extents, expected);
  const auto same = [](float a, float b) {
    return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, 4) == 0;
  };
  for (const Way& way : ways()) {
    if (!runs_here(way)) continue;
    const schedule::Scheduled scheduled = schedule::schedule(lowered, way.target);
    const CompiledSchedule compiled(scheduled, way);
    Memory actual = memory;
    run_scheduled(scheduled, extents, actual, compiled.runner());
    const auto* want = reinterpret_cast<const float*>(expected[2].data());
    const auto* got = reinterpret_cast<const float*>(actual[2].data());
    for (int64_t i = 0; i < n * 6; ++i) {
      const auto at = static_cast<size_t>(i / 6);
      ASSERT_TRUE(same(want[i], got[i]))
          << way.name << ": function " << i % 6 << " of " << special[at % special.size()] << ", "
          << special[at / special.size()] << " is " << want[i] << ", not " << got[i];
    }
  }
}

class GatherFaultTest : public ::testing::TestWithParam<Case> {};

TEST_P(GatherFaultTest, AnIndexOutsideIsReportedAndNothingOutsideIsRead) {
  const Case& test = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  const Extents extents = {{"n", 21}};
  for (const Way& way : ways()) {
    if (!runs_here(way)) continue;
    const schedule::Scheduled scheduled = schedule::schedule(lowered, way.target);
    const CompiledSchedule compiled(scheduled, way);
    for (const int64_t bad : {int64_t{8}, int64_t{-9}, int64_t{1} << 40, INT64_MIN, INT64_MAX}) {
      for (const int64_t where : {0, 3, 20}) {
        Memory expected = random_memory(lowered, extents, {-8, 7});
        std::memcpy(&expected[1][static_cast<size_t>(where) * 8], &bad, 8);
        Memory actual = expected;
        EXPECT_EQ(run_lowered(lowered, extents, expected), (Fault{1, bad, 8}));
        EXPECT_EQ(run_scheduled(scheduled, extents, actual, compiled.runner()), (Fault{1, bad, 8}))
            << way.name << " at " << where;
        EXPECT_EQ(difference(expected, actual), "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, GatherFaultTest, ::testing::ValuesIn(gather_cases()),
                         [](const auto& info) { return info.param.name; });

// Each lane has an index of its own there; the report is of the lane at fault.
TEST(Generate, AnIndexOutsideInOneLaneIsTheOneReported) {
  const kernel::Kernel k = kernel::parse(R"(kernel gather scheduled dims n: 1..1024
  buffer row: f32[16] stack
  buffer table: f32[8] global argument 0 constant
  buffer ids: i64[n] global argument 1
  buffer y: f32[n] global argument 2 written
  thread i in floordiv(n + 15, 16)
    vector l in 16
      let g in 8 of table = ids[i*16 + l] if 0 <= i*16 + l < n
      y[i*16 + l] = table[g] when 0 <= i*16 + l < n
)");
  kernel::verify(k);
  const Extents extents = {{"n", 21}};
  for (const Way& way : ways()) {
    if (!runs_here(way)) continue;
    const schedule::Scheduled scheduled{k, {}};
    const CompiledSchedule compiled(scheduled, way);
    for (const int64_t where : {0, 3, 15, 20}) {
      Memory expected = random_memory(k, extents, {-8, 7});
      const int64_t bad = 77;
      std::memcpy(&expected[1][static_cast<size_t>(where) * 8], &bad, 8);
      Memory actual = expected;
      run_scheduled(scheduled, extents, expected, interpret);
      // Word 0 is the place among the arguments: the local before them does not count.
      EXPECT_EQ(run_scheduled(scheduled, extents, actual, compiled.runner()), (Fault{1, bad, 8}))
          << way.name << " at " << where;
      EXPECT_EQ(difference(expected, actual), "");
    }
  }
}

// Both signs of a quotient may be turned: the divisor here is -m or 1 - n.
TEST(Generate, QuotientsOfNegativeDivisorsAreThoseOfTheInterpreter) {
  const kernel::Kernel k = kernel::parse(R"(kernel quotients scheduled dims m: 1..4, n: 1..4
  buffer x: f32[128] global argument 0
  buffer y: f32[128] global argument 1 written
  thread t in 1
    loop c in floordiv(-m*2, m*min(n - 1, 1) - m - n + 1)
      vector l in 16
        y[c*16 + l] = x[c*16 + floordiv(-m*l - 1, m*min(n - 1, 1) - m - n + 1)]
)");
  kernel::verify(k);
  for (const Way& way : ways()) {
    if (!runs_here(way)) continue;
    const schedule::Scheduled scheduled{k, {}};
    const CompiledSchedule compiled(scheduled, way);
    for (const Extents& extents : {Extents{{"m", 3}, {"n", 1}}, Extents{{"m", 2}, {"n", 3}}}) {
      Memory expected = random_memory(k, extents, {}), actual = expected;
      run_scheduled(scheduled, extents, expected, interpret);
      run_scheduled(scheduled, extents, actual, compiled.runner());
      EXPECT_EQ(difference(expected, actual), "") << way.name << " " << text_of(extents);
    }
  }
}

}  // namespace
}  // namespace tenon::kernel_test
