// Lowered kernels against their GPU schedules, both on the interpreter: numbers that agree, no
// race, nothing outside of a buffer, and the shapes that were asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "schedule/gpu/schedule.h"
#include "tests/schedule/run_kernel.h"

namespace tenon::kernel_test {
namespace {

// a x b of any dtype and either layout, with sizes that fill no tile.
Case product(const std::string& name, const char* dtype, bool a_turned, bool b_turned, int m, int n,
             int k) {
  const std::string a =
      fmt::format("a[{}]", a_turned ? fmt::format("k*{} + i", m) : fmt::format("i*{} + k", k));
  const std::string b =
      fmt::format("b[{}]", b_turned ? fmt::format("j*{} + k", k) : fmt::format("k*{} + j", n));
  const auto read = [&](const std::string& load) {
    return std::string(dtype) == "f32" ? load : fmt::format("cast(f32, {})", load);
  };
  return {name,
          fmt::format(R"(kernel product lowered
  buffer a: {0}[{1}] global argument 0
  buffer b: {0}[{2}] global argument 1
  buffer y: f32[{3}] global argument 2 written
  parallel i in {4}
    parallel j in {5}
      y[i*{5} + j] = max(reduce_fma(k in {6}, {7}, {8}, f32(0)), f32(-1))
)",
                      dtype, m * k, k * n, m * n, m, n, k, read(a), read(b)),
          {{}}};
}

std::vector<Case> cases() {
  std::vector<Case> all = all_cases();
  // Its iterations may meet, which is defined for the lanes of a vector only.
  std::erase_if(all, [](const Case& test) { return test.name == "ScatterInVectors"; });
  for (const char* dtype : {"f32", "bf16", "f16"}) {
    all.push_back(product(fmt::format("Product_{}", dtype), dtype, false, false, 70, 72, 40));
    all.push_back(product(fmt::format("LeftTurned_{}", dtype), dtype, true, false, 65, 64, 33));
    all.push_back(product(fmt::format("RightTurned_{}", dtype), dtype, false, true, 64, 67, 64));
    all.push_back(product(fmt::format("BothTurned_{}", dtype), dtype, true, true, 130, 20, 16));
    all.push_back(product(fmt::format("Deep_{}", dtype), dtype, false, false, 16, 16, 300));
  }
  return all;
}

class GpuKernels : public ::testing::TestWithParam<Case> {};

void expect_close(const kernel::Kernel& lowered, const Memory& expected, const Memory& actual) {
  for (const kernel::Buffer& buffer : lowered.buffers) {
    if (buffer.storage != kernel::Storage::Global || !buffer.written) continue;
    const auto &want = expected.at(buffer.source_index), &got = actual.at(buffer.source_index);
    if (!is_float(buffer.dtype)) {
      EXPECT_EQ(want, got);
      continue;
    }
    const auto size = static_cast<size_t>(size_of(buffer.dtype));
    const double tolerance = size == 2 ? 1e-2 : 1e-5;
    for (size_t at = 0; at < want.size(); at += size) {
      const double w = load_as_f64(buffer.dtype, &want[at]),
                   g = load_as_f64(buffer.dtype, &got[at]);
      if (std::isnan(w) && std::isnan(g)) continue;
      if (w == g) continue;
      ASSERT_NEAR(w, g, tolerance * std::max(1.0, std::abs(w))) << "element " << at / size;
    }
  }
}

TEST_P(GpuKernels, ComputeWhatTheLoweredKernelDoes) {
  const Case& test = GetParam();
  const kernel::Kernel lowered = kernel::parse(test.text);
  const schedule::Scheduled scheduled = schedule::schedule_for_gpu(lowered, {});
  kernel::verify(scheduled.kernel);
  EXPECT_EQ(kernel::print(kernel::parse(kernel::print(scheduled.kernel))),
            kernel::print(scheduled.kernel));
  for (const Extents& extents : test.runs) {
    Memory expected = random_memory(lowered, extents, test.indices), actual = expected;
    const Fault lowered_fault = run_lowered(expanded(lowered), extents, expected);
    const Fault fault = run_scheduled(scheduled, extents, actual, interpret);
    EXPECT_EQ(fault, lowered_fault) << text_of(extents);
    expect_close(lowered, expected, actual);
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, GpuKernels, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

int count(const kernel::Kernel& kernel, kernel::TileKind kind) {
  int found = 0;
  kernel::for_each(kernel.body, [&](const kernel::Stmt& stmt) {
    const auto* tile = stmt.as<kernel::TileMma>();
    found += tile && tile->kind == kind ? 1 : 0;
  });
  return found;
}

kernel::Kernel scheduled(const Case& test, const schedule::GpuTarget& target = {}) {
  return schedule::schedule_for_gpu(kernel::parse(test.text), target).kernel;
}

TEST(GpuSchedule, TensorCoresMultiplySixteenBitsAndOthersWhereAllowed) {
  using kernel::TileKind;
  const Case bf16 = product("p", "bf16", false, false, 64, 64, 64);
  const Case f32 = product("p", "f32", false, false, 64, 64, 64);
  EXPECT_EQ(count(scheduled(bf16), TileKind::TensorCore), 1);
  EXPECT_EQ(count(scheduled(f32), TileKind::TensorCore), 0);
  EXPECT_EQ(count(scheduled(f32), TileKind::Fma), 1);
  using schedule::Precision;
  for (const Precision precision : {Precision::Tf32, Precision::Bf16})
    EXPECT_EQ(count(scheduled(f32, {.precision = precision}), TileKind::TensorCore), 1);
}

// Operands of f32 that are rounded as they are staged, and weights that are rounded before.
TEST(GpuSchedule, RoundedOperandsGiveCloseProducts) {
  for (const Case& test : {product("p", "f32", false, false, 70, 72, 40),
                           product("p", "f32", true, true, 65, 67, 33)}) {
    for (const bool weights : {false, true}) {
      kernel::Kernel lowered = kernel::parse(test.text);
      lowered.buffers[1].constant = weights;
      const auto made =
          schedule::schedule_for_gpu(lowered, {.precision = schedule::Precision::Bf16});
      EXPECT_EQ(made.packs.size(), weights ? 1u : 0u);
      kernel::verify(made.kernel);
      Memory expected = random_memory(lowered, {}, test.indices), actual = expected;
      run_lowered(lowered, {}, expected);
      run_scheduled(made, {}, actual, interpret);
      const auto &want = expected.at(2), &got = actual.at(2);
      for (size_t at = 0; at < want.size(); at += 4) {
        EXPECT_NEAR(load_as_f64(DType::F32, &want[at]), load_as_f64(DType::F32, &got[at]), 0.05);
      }
      EXPECT_NE(want, got);
    }
  }
}

// What a block may have on every GPU since compute capability 8.0.
TEST(GpuSchedule, StagedTilesFitIntoSharedMemory) {
  using schedule::Precision;
  for (const int size : {64, 4096}) {
    for (const char* dtype : {"f32", "bf16"}) {
      for (const Precision precision : {Precision::F32, Precision::Tf32, Precision::Bf16}) {
        int64_t bytes = 0;
        const Case test = product("p", dtype, false, true, size, size, size);
        for (const kernel::Buffer& b : scheduled(test, {.precision = precision}).buffers) {
          if (b.storage == kernel::Storage::Shared)
            bytes += b.elements.const_value() * size_of(b.dtype) * b.depth;
        }
        EXPECT_GT(bytes, 0);
        EXPECT_LE(bytes, 99 * 1024) << dtype << " " << size;
      }
    }
  }
}

// A product whose operand is a sum itself is no tile: what is staged is loaded or computed at once.
TEST(GpuSchedule, AnOperandThatIsReducedIsComputedInOrder) {
  const kernel::Kernel lowered = kernel::parse(R"(kernel nested lowered
  buffer a: f32[5120] global argument 0
  buffer b: f32[1024] global argument 1
  buffer y: f32[1024] global argument 2 written
  parallel i in 32
    parallel j in 32
      y[i*32 + j] = reduce_fma(k in 32, reduce_add(r in 5, a[i*160 + k*5 + r]), b[k*32 + j], f32(0))
)");
  const schedule::Scheduled made = schedule::schedule_for_gpu(lowered, {});
  kernel::verify(made.kernel);
  Memory expected = random_memory(lowered, {}, {0, 0}), actual = expected;
  run_lowered(lowered, {}, expected);
  run_scheduled(made, {}, actual, interpret);
  expect_close(lowered, expected, actual);
}

TEST(GpuSchedule, OperandsAreStagedAheadAsTheyLie) {
  const kernel::Kernel k = scheduled(product("p", "bf16", false, true, 4096, 4096, 4096));
  int staged = 0;
  for (const kernel::Buffer& buffer : k.buffers) {
    if (buffer.storage != kernel::Storage::Shared) continue;
    ++staged;
    EXPECT_TRUE(buffer.async && buffer.depth > 2) << buffer.name;
  }
  EXPECT_EQ(staged, 2);
  EXPECT_EQ(k.block_threads(), 128);
}

}  // namespace
}  // namespace tenon::kernel_test
