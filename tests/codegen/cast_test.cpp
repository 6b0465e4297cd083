// Every cast between two dtypes as machine code: the bits of the interpreter, on AVX2 and AVX-512.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/codegen/compiled_kernel.h"
#include "tests/full.h"
#include "tests/kernel/cast_samples.h"

namespace tenon::kernel_test {
namespace {

TEST(GenerateCast, EveryCastGivesTheBitsOfTheInterpreter) {
  for (const DType from : all_dtypes()) {
    const std::vector<std::byte> x = cast_samples(from);
    const Extents extents = {{"n", static_cast<int64_t>(x.size()) / size_of(from)}};
    for (const DType to : all_dtypes()) {
      const kernel::Kernel lowered = cast_kernel(from, to);
      Memory expected = random_memory(lowered, extents, {0, 0});
      expected[0] = x;
      const Memory inputs = expected;
      run_lowered(lowered, extents, expected);
      for (const Way& way : ways()) {
        // A process per kernel: in the plain tests that generator has every eleventh pair.
        const bool sampled = (static_cast<int>(from) + 3 * static_cast<int>(to)) % 11 == 0;
        if (way.generator->name == "c" && !sampled && !full_tests()) continue;
        const schedule::Scheduled scheduled = schedule::schedule(lowered, way.target);
        const CompiledSchedule compiled(scheduled, way);
        if (!runs_here(way)) continue;
        Memory actual = inputs;
        run_scheduled(scheduled, extents, actual, compiled.runner());
        const auto size = static_cast<size_t>(size_of(to));
        for (size_t i = 0; i < actual[1].size(); i += size) {
          const std::byte *got = &actual[1][i], *want = &expected[1][i];
          const bool nan =
              is_float(to) && std::isnan(load_as_f64(to, got)) && std::isnan(load_as_f64(to, want));
          ASSERT_TRUE(nan || std::memcmp(got, want, size) == 0)
              << way.name << ": " << to_string(from) << " to " << to_string(to) << " at "
              << i / size << ": " << load_as_f64(to, got) << ", not " << load_as_f64(to, want);
        }
      }
    }
  }
}

}  // namespace
}  // namespace tenon::kernel_test
