// Kernels scheduled for GPUs, on the interpreter: blocks, threads, barriers and shared memory
// against arithmetic done by hand, and what a missing barrier would do, found.
#include <gtest/gtest.h>

#include <numeric>

#include "kernel/kernel.h"
#include "tenon/error.h"

namespace tenon::kernel {
namespace {

void run(const Kernel& kernel, std::vector<void*> buffers, std::vector<int64_t> dims = {}) {
  verify(kernel);
  EXPECT_EQ(print(parse(print(kernel))), print(kernel));
  EXPECT_EQ(canonical_text(parse(print(kernel))), canonical_text(kernel));
  buffers.resize(kernel.buffers.size(), nullptr);
  interpret(kernel, buffers, dims, nullptr);
}

// Rows of m elements, reversed through shared memory, one block each.
std::string reversing(const char* between) {
  return std::string(R"(kernel reverse gpu dims n: 1..64
  buffer x: f32[n*32] global argument 0
  buffer y: f32[n*32] global argument 1 written
  buffer s: f32[32] shared
  thread b in n
    together t in 32
      s[t] = x[b*32 + t]
)") + between +
         R"(    together t2 in 32
      y[b*32 + t2] = s[31 - t2]
)";
}

TEST(KernelOnGpu, ThreadsExchangeThroughSharedMemory) {
  std::vector<float> x(96), y(96);
  std::iota(x.begin(), x.end(), 0.0f);
  run(parse(reversing("    barrier\n")), {x.data(), y.data()}, {3});
  for (int b = 0; b < 3; ++b) {
    for (int t = 0; t < 32; ++t) EXPECT_EQ(y[b * 32 + t], static_cast<float>(b * 32 + 31 - t));
  }
}

TEST(KernelOnGpu, AMissingBarrierIsFound) {
  std::vector<float> x(96), y(96);
  EXPECT_THROW(run(parse(reversing("")), {x.data(), y.data()}, {3}), Error);
}

TEST(KernelOnGpu, BlocksThatStoreTheSameElementAreFound) {
  std::vector<float> y(4);
  const Kernel kernel = parse(R"(kernel same gpu
  buffer y: f32[4] global argument 0 written
  thread b in 2
    together t in 4
      y[t] = f32(1)
)");
  EXPECT_THROW(run(kernel, {y.data()}), Error);
}

// A row's sum: elements t, t + 64, ... in thread t, then the tree over the block.
TEST(KernelOnGpu, ThreadsCombine) {
  std::vector<float> x(2 * 200), y(2);
  std::iota(x.begin(), x.end(), 0.0f);
  run(parse(R"(kernel sum gpu dims m: 1..1000
  buffer x: f32[m*2] global argument 0
  buffer y: f32[2] global argument 1 written
  buffer acc: f32[1] register
  thread b in 2
    together t in 64
      acc[0] = f32(0)
      loop k in floordiv(m - t + 63, 64)
        acc[0] = add(acc[0], x[b*m + k*64 + t])
    combine add acc of 64
    together t in 64
      loop once in max(1 - t, 0)
        y[b] = acc[0]
)"),
      {x.data(), y.data()}, {200});
  EXPECT_EQ(y[0], 199 * 200 / 2);
  EXPECT_EQ(y[1], 199 * 200 / 2 + 200 * 200);
}

// c = a x b, 4 x 4, depth 2: four threads with four elements each.
TEST(KernelOnGpu, TilesMultiply) {
  std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8}, b = {1, 0, 2, 1, 0, 1, 1, 3}, c(16);
  run(parse(R"(kernel product gpu
  buffer a: f32[8] global argument 0
  buffer b: f32[8] global argument 1
  buffer c: f32[16] global argument 2 written
  buffer sa: f32[8] shared
  buffer sb: f32[8] shared
  buffer acc: f32[4] register
  thread w in 1
    together t in 4
      unroll e in 4
        acc[e] = f32(0)
      unroll u in 2
        sa[t*2 + u] = a[t*2 + u]
        sb[t*2 + u] = b[t*2 + u]
    barrier
    tile fma t in 4, e in 4 at t, e
      i in 4, j in 4, k in 2: acc += sa[i*2 + k] * sb[j + k*4]
    together t in 4
      unroll e in 4
        c[e + t*4] = acc[e]
)"),
      {a.data(), b.data(), c.data()});
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_EQ(c[i * 4 + j], a[i * 2] * b[j] + a[i * 2 + 1] * b[4 + j]);
  }
}

TEST(KernelOnGpu, WhatIsNotLegalIsRefused) {
  const auto refused = [](const char* body) {
    EXPECT_THROW(verify(parse(std::string(R"(kernel bad gpu
  buffer y: f32[64] global argument 0 written
  buffer acc: f32[1] register
  thread b in 1
)") + body)),
                 Error)
        << body;
  };
  refused("    y[0] = f32(1)\n    together t in 32\n      y[t] = f32(1)\n");
  refused("    together t in 32\n      barrier\n");
  refused("    together t in 32\n      together t2 in 32\n        y[t] = f32(1)\n");
  refused(
      "    together t in 32\n      acc[0] = f32(1)\n    together t in 64\n      y[t] = acc[0]\n");
  refused("    together t in 32\n      acc[0] = f32(1)\n    combine add acc of 24\n");
}

}  // namespace
}  // namespace tenon::kernel
