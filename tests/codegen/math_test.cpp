// Every function as machine code: the bits of the interpreter, on AVX2 and AVX-512, of f32 and f64.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/codegen/compiled_kernel.h"
#include "tests/kernel/cast_samples.h"

namespace tenon::kernel_test {
namespace {

std::string function_text(const std::string& expr, DType dtype) {
  const std::string name(to_string(dtype));
  return "kernel math lowered dims n: 1..100000\n  buffer x: " + name +
         "[n] global argument 0\n  buffer y: " + name +
         "[n] global argument 1 written\n  parallel i in n\n    y[i] = " + expr + "\n";
}

TEST(GenerateMath, EveryFunctionGivesTheBitsOfTheInterpreter) {
  for (const kernel::OpInfo& op : kernel::kOps) {
    if ((op.traits & kernel::kExpanded) == 0) continue;
    const std::string call(op.text);
    const std::string expr = op.operands == 1 ? call + "(x[i])" : call + "(x[i], x[n - 1 - i])";
    for (const DType dtype : {DType::F32, DType::F64}) {
      const std::vector<std::byte> x = cast_samples(dtype);
      const Extents extents = {{"n", static_cast<int64_t>(x.size()) / size_of(dtype)}};
      const kernel::Kernel lowered = kernel::parse(function_text(expr, dtype));
      Memory inputs = random_memory(lowered, extents, {0, 0});
      inputs[0] = x;
      Memory expected = inputs;
      run_lowered(lowered, extents, expected);
      for (const NamedIsa& isa : isas()) {
        if (!runs_here(isa)) continue;
        const schedule::Scheduled scheduled = schedule::schedule(lowered, isa.target);
        const CompiledSchedule compiled(scheduled, isa.isa);
        Memory actual = inputs;
        run_scheduled(scheduled, extents, actual, compiled.runner());
        const auto size = static_cast<size_t>(size_of(dtype));
        for (size_t i = 0; i < actual[1].size(); i += size) {
          const std::byte *got = &actual[1][i], *want = &expected[1][i];
          const bool nan =
              std::isnan(load_as_f64(dtype, got)) && std::isnan(load_as_f64(dtype, want));
          ASSERT_TRUE(nan || std::memcmp(got, want, size) == 0)
              << isa.name << ": " << call << " of " << load_as_f64(dtype, &x[i]) << " is "
              << load_as_f64(dtype, got) << ", not " << load_as_f64(dtype, want);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon::kernel_test
