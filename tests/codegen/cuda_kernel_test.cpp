// Kernels for GPUs in CUDA C++: elementwise work, vectors with tails, gathers, threads that
// combine and exchange, against the interpreter.
#include "tests/codegen/cuda_kernel.h"

#include <numeric>

namespace tenon::cuda_test {
namespace {

using kernel::parse;

std::vector<float> numbers(size_t count, float first = -3.0f) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = first + 0.37f * static_cast<float>(i % 101) - 0.01f * static_cast<float>(i % 7);
  return result;
}

TEST(CudaKernel, OneElementPerThreadWithATail) {
  expect_same(parse(R"(kernel relu gpu dims n: 0..300
  buffer x: f32[n] global argument 0
  buffer y: f32[n] global argument 1 written
  thread b in floordiv(n + 63, 64)
    together t in 64
      loop once in max(min(n - b*64 - t, 1), 0)
        y[b*64 + t] = max(x[b*64 + t], f32(0))
)"),
              {bytes_of(numbers(300)), bytes_of(numbers(300))}, {{0}, {1}, {64}, {299}});
}

TEST(CudaKernel, VectorsWithAGuardedTail) {
  const kernel::Kernel kernel = parse(R"(kernel scale gpu dims n: 0..600
  buffer x: f32[n] global argument 0
  buffer w: f32[4] global argument 1
  buffer y: f32[n] global argument 2 written
  thread b in floordiv(n + 127, 128)
    together t in 32
      vector l in 4
        y[b*128 + t*4 + l] = fma(x[b*128 + t*4 + l] if 0 <= b*128 + t*4 + l < n, w[l], f32(1)) when 0 <= b*128 + t*4 + l < n
)");
  expect_same(kernel, {bytes_of(numbers(600)), bytes_of(numbers(4)), bytes_of(numbers(600))},
              {{0}, {3}, {128}, {598}});
  const std::string text = codegen::cuda::source(kernel, 90);
  EXPECT_NE(text.find("load_constant_lanes<f32, 4>"), std::string::npos) << text;
  EXPECT_NE(text.find("store_lanes<f32, 4>"), std::string::npos) << text;
  EXPECT_EQ(text.find("i64)b_"), std::string::npos) << "indices of 32 bits suffice\n" << text;
}

TEST(CudaKernel, RowsSumWithinWarpsAndBlocks) {
  for (const int threads : {8, 256}) {
    for (const char* join : {"add", "max"}) {
      const std::string text = fmt::format(R"(kernel sum gpu dims m: 1..1000
  buffer x: f32[m*3] global argument 0
  buffer y: f32[3] global argument 1 written
  buffer acc: f32[1] register
  thread b in 3
    together t in {0}
      acc[0] = f32(0)
      loop k in floordiv(m - t + {1}, {0})
        acc[0] = {2}(acc[0], x[b*m + k*{0} + t])
    combine {2} acc of {0}
    together t in {0}
      loop once in max(1 - t, 0)
        y[b] = acc[0]
)",
                                           threads, threads - 1, join);
      expect_same(parse(text), {bytes_of(numbers(3000)), bytes_of(numbers(3))}, {{1}, {77}, {999}});
    }
  }
}

TEST(CudaKernel, CombinationsInLoopsDoNotMeet) {
  expect_same(parse(R"(kernel sums gpu
  buffer x: f32[4096] global argument 0
  buffer y: f32[64] global argument 1 written
  buffer acc: f32[1] register
  thread b in 4
    loop r in 3
      together t in 64
        acc[0] = x[b*1024 + r*64 + t]
      combine add acc of 64
      together t in 64
        loop once in max(1 - t, 0)
          y[b*16 + r] = acc[0]
    unroll r in 2
      together t in 64
        acc[0] = x[b*1024 + r*64 + t + 256]
      combine max acc of 64
      together t in 64
        loop once in max(1 - t, 0)
          y[b*16 + r + 3] = acc[0]
)"),
              {bytes_of(numbers(4096)), bytes_of(numbers(64))});
}

TEST(CudaKernel, ThreadsExchangeThroughSharedMemoryScratchAndStack) {
  expect_same(parse(R"(kernel exchange gpu dims n: 1..64
  buffer x: f32[n*32] global argument 0
  buffer y: f32[n*32] global argument 1 written
  buffer s: f32[32] shared
  buffer u: f32[n + 32] scratch
  buffer w: f32[8] stack
  thread b in n
    together t in 32
      s[t] = x[b*32 + t]
      u[t] = neg(x[b*32 + t])
      loop i in 8
        w[i] = index(f32, i*i + t)
    barrier
    together t2 in 32
      y[b*32 + t2] = add(add(s[31 - t2], u[t2]), w[t2 - floordiv(t2, 8)*8])
)"),
              {bytes_of(numbers(640)), bytes_of(numbers(640))}, {{1}, {20}});
}

TEST(CudaKernel, GathersReportTheFirstFault) {
  const kernel::Kernel kernel = parse(R"(kernel gather gpu dims n: 0..100
  buffer x: f32[50] global argument 0
  buffer at: i64[n] global argument 1
  buffer y: f32[n] global argument 2 written
  thread b in floordiv(n + 31, 32)
    together t in 32
      loop once in max(min(n - b*32 - t, 1), 0)
        let row in 50 of x = at[b*32 + t]
        y[b*32 + t] = x[row]
)");
  std::vector<int64_t> at(100);
  for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int64_t>(i % 100) - 50;
  expect_same(kernel, {bytes_of(numbers(50)), bytes_of(at), bytes_of(numbers(100))},
              {{0}, {40}, {100}});
  at[70] = 50;
  std::vector<Bytes> buffers = {bytes_of(numbers(50)), bytes_of(at), bytes_of(numbers(100))};
  uint64_t fault[4] = {};
  HostKernel(kernel).run(buffers, {100}, 3, false, fault);
  EXPECT_EQ(fault[0], 1u);
  EXPECT_EQ(fault[1], 50u);
  EXPECT_EQ(fault[2], 50u);
  EXPECT_EQ(fault[3], 7u);
}

TEST(CudaKernel, LanesGatherEachTheirOwn) {
  std::vector<int32_t> at(64);
  for (size_t i = 0; i < at.size(); ++i) at[i] = static_cast<int32_t>(i * 7 % 50);
  expect_same(parse(R"(kernel gather gpu
  buffer x: f32[50] global argument 0
  buffer at: i32[64] global argument 1
  buffer y: f32[64] global argument 2 written
  thread b in 2
    together t in 8
      vector l in 4
        let row in 50 of x = at[b*32 + t*4 + l]
        y[b*32 + t*4 + l] = x[row] when 0 <= row - 10 < 30
)"),
              {bytes_of(numbers(50)), bytes_of(at), bytes_of(numbers(64))});
}

TEST(CudaKernel, HalvesAreComputedInF32) {
  std::vector<uint16_t> x(256), z(256);
  for (size_t i = 0; i < x.size(); ++i) {
    x[i] = f32_to_bf16(numbers(256)[i]);
    z[i] = f32_to_f16(numbers(256, 5)[i]);
  }
  expect_same(parse(R"(kernel halves gpu
  buffer x: bf16[256] global argument 0
  buffer z: f16[256] global argument 1
  buffer y: bf16[256] global argument 2 written
  buffer w: f16[256] global argument 3 written
  thread b in 1
    together t in 32
      vector l in 8
        y[t*8 + l] = cast(bf16, mul(cast(f32, x[t*8 + l]), cast(f32, z[t*8 + l])))
        w[t*8 + l] = cast(f16, div(cast(f32, x[t*8 + l]), cast(f32, z[t*8 + l])))
)"),
              {bytes_of(x), bytes_of(z), bytes_of(x), bytes_of(x)});
}

}  // namespace
}  // namespace tenon::cuda_test
