// Contractions by pairs of bf16: close to those by fma, and the same bits however they are
// scheduled.
#include "schedule/dot2.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/schedule/dot2_cases.h"

namespace tenon::kernel_test {
namespace {

class Dot2Test : public ::testing::TestWithParam<Case> {};

TEST_P(Dot2Test, IsLegalAndGoesByPairs) {
  const kernel::Kernel by_pairs = schedule::with_dot2(kernel::parse(GetParam().text));
  EXPECT_NO_THROW(kernel::verify(by_pairs)) << kernel::print(by_pairs);
  const auto scheduled = schedule::schedule(kernel::parse(GetParam().text), dot2_target());
  EXPECT_NO_THROW(kernel::verify(scheduled.kernel)) << kernel::print(scheduled.kernel);
  for (const kernel::Kernel& pack : scheduled.packs) EXPECT_NO_THROW(kernel::verify(pack));
  const std::string text = kernel::print(scheduled.kernel);
  EXPECT_NE(text.find("+= dot2("), std::string::npos) << text;
  EXPECT_EQ(text.find("+= outer("), std::string::npos) << text;
}

TEST_P(Dot2Test, GivesTheBitsOfTheLoweredKernel) {
  const Case& test = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  const kernel::Kernel by_pairs = schedule::with_dot2(lowered);
  for (const bool plain : {false, true}) {
    schedule::Target target = dot2_target();
    target.plain = plain;
    const schedule::Scheduled scheduled = schedule::schedule(lowered, target);
    EXPECT_TRUE(schedule::has_dot2(scheduled.kernel));
    for (const Extents& extents : test.runs) {
      Memory expected = random_memory(lowered, extents, test.indices), actual = expected;
      run_lowered(expanded(by_pairs), extents, expected);
      run_scheduled(scheduled, extents, actual, interpret);
      ASSERT_EQ(difference(expected, actual), "") << text_of(extents) << plain;
    }
  }
}

// Numbers with few bits: nothing is rounded, so the order of products does not matter.
TEST_P(Dot2Test, GivesWhatFmaGivesWhereSumsAreExact) {
  const Case& test = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  for (const Extents& extents : test.runs) {
    Memory expected = random_memory(lowered, extents, test.indices);
    for (const kernel::Buffer& buffer : lowered.buffers) {
      auto& bytes = expected[buffer.source_index];
      const auto size = static_cast<size_t>(size_of(buffer.dtype));
      for (size_t at = 0; !buffer.written && at < bytes.size(); at += size) {
        const double x = load_as_f64(buffer.dtype, &bytes[at]);
        store_from_f64(buffer.dtype, &bytes[at], std::nearbyint(x * 4));
      }
    }
    Memory actual = expected;
    run_lowered(lowered, extents, expected);
    run_lowered(schedule::with_dot2(lowered), extents, actual);
    ASSERT_EQ(difference(expected, actual), "") << text_of(extents);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Dot2Test, ::testing::ValuesIn(dot2_cases()),
                         [](const auto& info) { return info.param.name; });

// Where rows are of even length a pair is one element of memory.
TEST(Dot2, RowsOfEvenLengthAreReadAsPairs) {
  const auto text = [](int64_t depth) {
    const Case test = bf16_linear_case(depth, 32, {});
    return kernel::print(schedule::with_dot2(kernel::parse(test.text)));
  };
  EXPECT_NE(text(64).find("reduce_dot2(k2 in 32, x_pairs[i*32 + k2]"), std::string::npos)
      << text(64);
  EXPECT_EQ(text(63).find("x_pairs"), std::string::npos) << text(63);
}

TEST(Dot2, OtherContractionsStayAsTheyAre) {
  for (const Case& test : contraction_cases()) {
    const kernel::Kernel lowered = kernel::parse(test.text);
    EXPECT_EQ(kernel::print(schedule::with_dot2(lowered)), kernel::print(lowered)) << test.name;
  }
}

// A convolution of 1x1: rows of weights by columns of data.
TEST(Dot2, ConvolutionsStayAsTheyAre) {
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
