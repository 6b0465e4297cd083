// Products of pairs of bf16, and of fours of bytes, in machine code give the bits of their
// definitions (kernel/dot2.h, kernel/dot4.h).
#include <gtest/gtest.h>

#include "tests/codegen/compiled_kernel.h"
#include "tests/schedule/dot4_cases.h"

namespace tenon::kernel_test {
namespace {

// Each generator, for machines that have the instructions.
std::vector<Way> dot_ways() {
  std::vector<Way> result;
  for (const codegen::Generator& generator : codegen::generators()) {
    const NamedIsa isa{std::string(generator.name), codegen::Isa::Avx512, CpuIsa::Avx512,
                       dots_target()};
    result.push_back({isa, &generator});
  }
  return result;
}

bool runs_here(const Dots& dots) {
  const CpuInfo cpu = detect_cpu(std::nullopt);
  return std::string_view(dots.name) == "dot2" ? cpu.bf16 : cpu.vnni;
}

class GenerateDotsTest : public ::testing::TestWithParam<DotCase> {};

TEST_P(GenerateDotsTest, GivesTheBitsOfTheInterpreter) {
  const auto& [dots, test] = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  for (const Way& way : dot_ways()) {
    const schedule::Scheduled scheduled = schedule::schedule(lowered, way.target);
    const CompiledSchedule compiled(scheduled, way);
    if (!runs_here(dots)) continue;
    for (const Extents& extents : test.runs) {
      Memory expected = random_memory(lowered, extents, test.indices), actual = expected;
      run_scheduled(scheduled, extents, expected, interpret);
      run_scheduled(scheduled, extents, actual, compiled.runner());
      ASSERT_EQ(difference(expected, actual), "") << way.name << " " << text_of(extents);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, GenerateDotsTest, ::testing::ValuesIn(dot_cases()),
                         [](const auto& info) { return info.param.test.name; });

// Random bytes as operands of one step, in vectors and alone.
void check_any_bits(const Dots& dots, std::string_view text) {
  if (!runs_here(dots)) GTEST_SKIP() << "this machine has no " << dots.name;
  constexpr int64_t kCount = 20011;
  const kernel::Kernel lowered = kernel::parse(text);
  const Extents extents = {{"n", kCount}};
  Memory inputs = random_memory(lowered, extents, {0, 0});
  std::mt19937 generator(7);
  for (int argument = 0; argument < 3; ++argument) {
    for (std::byte& byte : inputs[argument]) byte = static_cast<std::byte>(generator());
  }
  Memory expected = inputs;
  run_lowered(lowered, extents, expected);
  for (const Way& way : dot_ways()) {
    const schedule::Scheduled scheduled = schedule::schedule(lowered, way.target);
    const CompiledSchedule compiled(scheduled, way);
    Memory actual = inputs;
    run_scheduled(scheduled, extents, actual, compiled.runner());
    EXPECT_EQ(difference(expected, actual), "") << way.name;
  }
}

// Huge and tiny numbers, denormals, infinities and NaN.
TEST(GenerateDots, AnyBitsOfBf16GiveTheBitsOfTheInterpreter) {
  check_any_bits(kDot2, R"(kernel dot2 lowered dims n: 1..100000
  buffer a: u32[n] global argument 0
  buffer b: u32[n] global argument 1
  buffer c: u32[n] global argument 2
  buffer y: u32[n] global argument 3 written
  parallel i in n
    %0 = dot2(a[i], b[i], bit_cast(f32, c[i]))
    y[i] = select(eq(%0, %0), bit_cast(u32, %0), u32(0))
)");
}

TEST(GenerateDots, AnyBytesGiveTheBitsOfTheInterpreter) {
  check_any_bits(kDot4, R"(kernel dot4 lowered dims n: 1..100000
  buffer a: u32[n] global argument 0
  buffer b: u32[n] global argument 1
  buffer c: u32[n] global argument 2
  buffer y: i32[n] global argument 3 written
  parallel i in n
    y[i] = dot4(a[i], b[i], bit_cast(i32, c[i]))
)");
}

}  // namespace
}  // namespace tenon::kernel_test
