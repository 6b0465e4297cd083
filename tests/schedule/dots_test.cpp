// Contractions by pairs of bf16 and by fours of bytes: close to those by fma, those of bytes equal,
// and the same bits however they are scheduled.
#include "schedule/dots.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/schedule/dot4_cases.h"

namespace tenon::kernel_test {
namespace {

class DotsTest : public ::testing::TestWithParam<DotCase> {};

TEST_P(DotsTest, IsLegalAndGoesByGroups) {
  const auto& [dots, test] = GetParam();
  const kernel::Kernel by_groups = dots.with(kernel::parse(test.text));
  EXPECT_NO_THROW(kernel::verify(by_groups)) << kernel::print(by_groups);
  const auto scheduled = schedule::schedule(kernel::parse(test.text), dots_target());
  EXPECT_NO_THROW(kernel::verify(scheduled.kernel)) << kernel::print(scheduled.kernel);
  for (const kernel::Kernel& pack : scheduled.packs) EXPECT_NO_THROW(kernel::verify(pack));
  const std::string text = kernel::print(scheduled.kernel);
  EXPECT_NE(text.find(fmt::format("+= {}(", dots.name)), std::string::npos) << text;
  EXPECT_EQ(text.find("+= outer("), std::string::npos) << text;
}

TEST_P(DotsTest, GivesTheBitsOfTheLoweredKernel) {
  const auto& [dots, test] = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  const kernel::Kernel by_groups = dots.with(lowered);
  for (const bool plain : {false, true}) {
    schedule::Target target = dots_target();
    target.plain = plain;
    const schedule::Scheduled scheduled = schedule::schedule(lowered, target);
    EXPECT_TRUE(dots.has(scheduled.kernel));
    for (const Extents& extents : test.runs) {
      Memory expected = random_memory(lowered, extents, test.indices), actual = expected;
      run_lowered(expanded(by_groups), extents, expected);
      run_scheduled(scheduled, extents, actual, interpret);
      ASSERT_EQ(difference(expected, actual), "") << text_of(extents) << plain;
    }
  }
}

// Numbers with few bits: nothing is rounded, so the order of products does not matter.
TEST_P(DotsTest, GivesWhatFmaGivesWhereSumsAreExact) {
  const auto& [dots, test] = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  for (const Extents& extents : test.runs) {
    Memory expected = random_memory(lowered, extents, test.indices);
    for (const kernel::Buffer& buffer : lowered.buffers) {
      auto& bytes = expected[buffer.source_index];
      const auto size = static_cast<size_t>(size_of(buffer.dtype));
      for (size_t at = 0; is_float(buffer.dtype) && !buffer.written && at < bytes.size();
           at += size) {
        const double x = load_as_f64(buffer.dtype, &bytes[at]);
        store_from_f64(buffer.dtype, &bytes[at], std::nearbyint(x * 4));
      }
    }
    Memory actual = expected;
    run_lowered(expanded(lowered), extents, expected);
    run_lowered(expanded(dots.with(lowered)), extents, actual);
    ASSERT_EQ(difference(expected, actual), "") << text_of(extents);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, DotsTest, ::testing::ValuesIn(dot_cases()),
                         [](const auto& info) { return info.param.test.name; });

// Where rows are of even length a pair is one element of memory.
TEST(Dots, RowsOfEvenLengthAreReadAsPairs) {
  const auto text = [](int64_t depth) {
    const Case test = bf16_linear_case(depth, 32, {});
    return kernel::print(schedule::with_dot2(kernel::parse(test.text)));
  };
  EXPECT_NE(text(64).find("reduce_dot2(k2 in 32, x_pairs[i*32 + k2]"), std::string::npos)
      << text(64);
  EXPECT_EQ(text(63).find("x_pairs"), std::string::npos) << text(63);
}

TEST(Dots, RowsOfWholeFoursAreReadAsFours) {
  const auto text = [](int64_t depth) {
    const Case test = byte_linear_case(depth, 32, {});
    return kernel::print(schedule::with_dot4(kernel::parse(test.text)));
  };
  EXPECT_NE(text(64).find("reduce_dot4(k4 in 16, x_fours[i*16 + k4]"), std::string::npos)
      << text(64);
  EXPECT_EQ(text(62).find("x_fours"), std::string::npos) << text(62);
}

TEST(Dots, OtherContractionsStayAsTheyAre) {
  std::vector<Case> cases = contraction_cases();
  for (const Case& test : dot4_cases()) cases.push_back(test);
  for (const Case& test : cases) {
    const kernel::Kernel lowered = kernel::parse(test.text);
    EXPECT_EQ(kernel::print(schedule::with_dot2(lowered)), kernel::print(lowered)) << test.name;
  }
  for (const Case& test : dot2_cases()) {
    const kernel::Kernel lowered = kernel::parse(test.text);
    EXPECT_EQ(kernel::print(schedule::with_dot4(lowered)), kernel::print(lowered)) << test.name;
  }
}

// The instruction takes bytes without sign on the left and with one on the right only.
TEST(Dots, BytesOfOtherSignsStayAsTheyAre) {
  std::string text = byte_linear_case(64, 32, {}).text;
  text.replace(text.find("x: u8"), 5, "x: i8");
  const kernel::Kernel lowered = kernel::parse(text);
  EXPECT_EQ(kernel::print(schedule::with_dot4(lowered)), kernel::print(lowered));
}

// A convolution of 1x1: rows of weights by columns of data.
TEST(Dots, ConvolutionsStayAsTheyAre) {
  const kernel::Kernel lowered = kernel::parse(R"(kernel conv lowered dims m: 1..65536
  buffer w: bf16[512] global argument 0 constant
  buffer x: bf16[m*32] global argument 1
  buffer y: f32[m*16] global argument 2 written
  parallel i in 16
    parallel j in m
      y[i*m + j] = reduce_fma(k in 32, cast(f32, w[i*32 + k]), cast(f32, x[j + k*m]), f32(0))
)");
  EXPECT_EQ(kernel::print(schedule::with_dot2(lowered)), kernel::print(lowered));
}

}  // namespace
}  // namespace tenon::kernel_test
