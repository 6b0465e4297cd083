// Kernels of real graphs for given extents: their dims are numbers, their code is smaller, and
// equal ones are made once.
#include "driver/specialize_kernels.h"

#include <gtest/gtest.h>

#include "driver/pipeline.h"
#include "kernel/fix_dims.h"
#include "tests/driver/encoder_graph.h"

namespace tenon::driver {
namespace {

const Options kOptions{.cpu = detect_cpu(CpuIsa::Avx2), .keep_kernels = true};

std::vector<int64_t> values_of(const kernel::Kernel& kernel, int64_t batch, int64_t seq) {
  std::vector<int64_t> values;
  for (const Symbol& dim : kernel.dims) values.push_back(dim.name() == "batch" ? batch : seq);
  return values;
}

TEST(SpecializedKernels, OfTheEncoderAreLegalAndHaveNoDimLeft) {
  const Compiled compiled = compile(graph_test::encoder(2), kOptions);
  ASSERT_EQ(compiled.scheduled.size(), compiled.program.code.size());
  int with_dims = 0;
  for (const UniqueKernel& each : compiled.scheduled) {
    for (const auto& [batch, seq] : {std::pair{1, 1}, {2, 7}, {8, 128}}) {
      const kernel::Kernel special =
          kernel::fix_dims(each.kernel, values_of(each.kernel, batch, seq));
      EXPECT_NO_THROW(kernel::verify(special))
          << kernel::print(each.kernel) << kernel::print(special);
      EXPECT_TRUE(kernel::free_symbols(special).empty()) << kernel::print(special);
      EXPECT_TRUE(special.grid().is_const());
    }
    with_dims += each.kernel.dims.empty() ? 0 : 1;
  }
  EXPECT_GT(with_dims, 5);
}

TEST(SpecializedKernels, HaveLessCode) {
  const Compiled compiled = compile(graph_test::encoder(1), kOptions);
  const KernelSpecializer specializer(compiled.scheduled, kOptions);
  size_t any = 0, special = 0;
  for (size_t i = 0; i < compiled.scheduled.size(); ++i) {
    bool fresh = false;
    const auto code = specializer.generate(static_cast<int>(i),
                                           values_of(compiled.scheduled[i].kernel, 1, 16), fresh);
    if (!code) continue;
    any += compiled.program.code[i]->bytes.size();
    special += code->bytes.size();
  }
  EXPECT_GT(any, 0u);
  EXPECT_LT(special, any);
}

TEST(SpecializedKernels, AreMadeOnceForEqualExtents) {
  static int64_t seq = 10;  // others each time: the cache is the process's
  ++seq;
  const Compiled compiled = compile(graph_test::encoder(1), kOptions);
  const KernelSpecializer specializer(compiled.scheduled, kOptions);
  for (size_t i = 0; i < compiled.scheduled.size(); ++i) {
    const kernel::Kernel& kernel = compiled.scheduled[i].kernel;
    bool first = false, second = false;
    const auto code = specializer.generate(static_cast<int>(i), values_of(kernel, 3, seq), first);
    EXPECT_EQ(first, !kernel.dims.empty()) << kernel.name;
    EXPECT_EQ(specializer.generate(static_cast<int>(i), values_of(kernel, 3, seq), second), code);
    EXPECT_FALSE(second);
  }
}

TEST(SpecializedKernels, AreNotMadeWhereThereIsNothingToCompute) {
  const Compiled compiled = compile(graph_test::encoder(1), kOptions);
  const KernelSpecializer specializer(compiled.scheduled, kOptions);
  for (size_t i = 0; i < compiled.scheduled.size(); ++i) {
    bool fresh = false;
    EXPECT_EQ(specializer.generate(static_cast<int>(i),
                                   values_of(compiled.scheduled[i].kernel, 0, 11), fresh),
              nullptr);
  }
}

TEST(KeptKernels, AreNoneWhereNobodyAsks) {
  EXPECT_TRUE(compile(graph_test::encoder(1), {.cpu = cpu_info()}).scheduled.empty());
}

}  // namespace
}  // namespace tenon::driver
