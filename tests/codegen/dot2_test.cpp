// Products of pairs of bf16 in machine code give the bits of their definition (kernel/dot2.h).
#include <gtest/gtest.h>

#include "tests/codegen/compiled_kernel.h"
#include "tests/schedule/dot2_cases.h"

namespace tenon::kernel_test {
namespace {

// Each generator, for machines that have the instruction.
std::vector<Way> dot2_ways() {
  std::vector<Way> result;
  for (const codegen::Generator& generator : codegen::generators()) {
    const NamedIsa isa{std::string(generator.name), codegen::Isa::Avx512, CpuIsa::Avx512,
                       dot2_target()};
    result.push_back({isa, &generator});
  }
  return result;
}

bool has_dot2() { return detect_cpu(std::nullopt).bf16; }

class GenerateDot2Test : public ::testing::TestWithParam<Case> {};

TEST_P(GenerateDot2Test, GivesTheBitsOfTheInterpreter) {
  const Case& test = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  for (const Way& way : dot2_ways()) {
    const schedule::Scheduled scheduled = schedule::schedule(lowered, way.target);
    const CompiledSchedule compiled(scheduled, way);
    if (!has_dot2()) continue;
    for (const Extents& extents : test.runs) {
      Memory expected = random_memory(lowered, extents, test.indices), actual = expected;
      run_scheduled(scheduled, extents, expected, interpret);
      run_scheduled(scheduled, extents, actual, compiled.runner());
      ASSERT_EQ(difference(expected, actual), "") << way.name << " " << text_of(extents);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, GenerateDot2Test, ::testing::ValuesIn(dot2_cases()),
                         [](const auto& info) { return info.param.name; });

// Any bits: huge and tiny numbers, denormals, infinities and NaN, in vectors and alone.
TEST(GenerateDot2, AnyBitsGiveTheBitsOfTheInterpreter) {
  if (!has_dot2()) GTEST_SKIP() << "this machine has no products of bf16";
  constexpr int64_t kCount = 20011;
  const kernel::Kernel lowered = kernel::parse(R"(kernel dot2 lowered dims n: 1..100000
  buffer a: u32[n] global argument 0
  buffer b: u32[n] global argument 1
  buffer c: u32[n] global argument 2
  buffer y: u32[n] global argument 3 written
  parallel i in n
    %0 = dot2(a[i], b[i], bit_cast(f32, c[i]))
    y[i] = select(eq(%0, %0), bit_cast(u32, %0), u32(0))
)");
  const Extents extents = {{"n", kCount}};
  Memory inputs = random_memory(lowered, extents, {0, 0});
  std::mt19937 generator(7);
  for (int argument = 0; argument < 3; ++argument) {
    for (std::byte& byte : inputs[argument]) byte = static_cast<std::byte>(generator());
  }
  Memory expected = inputs;
  run_lowered(lowered, extents, expected);
  for (const Way& way : dot2_ways()) {
    const schedule::Scheduled scheduled = schedule::schedule(lowered, way.target);
    const CompiledSchedule compiled(scheduled, way);
    Memory actual = inputs;
    run_scheduled(scheduled, extents, actual, compiled.runner());
    EXPECT_EQ(difference(expected, actual), "") << way.name;
  }
}

}  // namespace
}  // namespace tenon::kernel_test
