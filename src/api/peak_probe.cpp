// See peak_probe.h. Enough independent accumulators to cover the latency of a multiply-add (4
// cycles, 2 per cycle: 8; 12 with some slack), all in registers, no memory touched.
#include "api/peak_probe.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAccumulators = 12;
constexpr int kRounds = 4096;

// One batch of work: how many floating point operations it was. `sink` keeps the result alive.
using Batch = double (*)(float& sink);

#if defined(__x86_64__)
// In assembly, because compilers would rather keep the accumulators on the stack. R is zmm or ymm.
#define TENON_FMA_LOOP(R)                                                                        \
  "vpxor %%xmm0, %%xmm0, %%xmm0\n vpxor %%xmm1, %%xmm1, %%xmm1\n vpxor %%xmm2, %%xmm2, %%xmm2\n" \
  "vpxor %%xmm3, %%xmm3, %%xmm3\n vpxor %%xmm4, %%xmm4, %%xmm4\n vpxor %%xmm5, %%xmm5, %%xmm5\n" \
  "vpxor %%xmm6, %%xmm6, %%xmm6\n vpxor %%xmm7, %%xmm7, %%xmm7\n vpxor %%xmm8, %%xmm8, %%xmm8\n" \
  "vpxor %%xmm9, %%xmm9, %%xmm9\n vpxor %%xmm10, %%xmm10, %%xmm10\n"                             \
  "vpxor %%xmm11, %%xmm11, %%xmm11\n"                                                            \
  "1:\n"                                                                                         \
  "vfmadd231ps %[a], %[b], %%" R "0\n vfmadd231ps %[a], %[b], %%" R                              \
  "1\n"                                                                                          \
  "vfmadd231ps %[a], %[b], %%" R "2\n vfmadd231ps %[a], %[b], %%" R                              \
  "3\n"                                                                                          \
  "vfmadd231ps %[a], %[b], %%" R "4\n vfmadd231ps %[a], %[b], %%" R                              \
  "5\n"                                                                                          \
  "vfmadd231ps %[a], %[b], %%" R "6\n vfmadd231ps %[a], %[b], %%" R                              \
  "7\n"                                                                                          \
  "vfmadd231ps %[a], %[b], %%" R "8\n vfmadd231ps %[a], %[b], %%" R                              \
  "9\n"                                                                                          \
  "vfmadd231ps %[a], %[b], %%" R "10\n vfmadd231ps %[a], %[b], %%" R                             \
  "11\n"                                                                                         \
  "dec %[n]\n jnz 1b\n vmovss %%xmm0, %[sink]\n"
#define TENON_FMA_CLOBBERS                                                                 \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "cc"

__attribute__((target("avx512f"))) double batch_avx512(float& sink) {
  int64_t rounds = kRounds;
  const __m512 a = _mm512_set1_ps(0.5F), b = _mm512_set1_ps(0.001F);
  asm volatile(TENON_FMA_LOOP("zmm")
               : [n] "+r"(rounds), [sink] "=m"(sink)
               : [a] "v"(a), [b] "v"(b)
               : TENON_FMA_CLOBBERS);
  return 2.0 * 16 * kAccumulators * kRounds;
}

__attribute__((target("avx2,fma"))) double batch_avx2(float& sink) {
  int64_t rounds = kRounds;
  const __m256 a = _mm256_set1_ps(0.5F), b = _mm256_set1_ps(0.001F);
  asm volatile(TENON_FMA_LOOP("ymm")
               : [n] "+r"(rounds), [sink] "=m"(sink)
               : [a] "x"(a), [b] "x"(b)
               : TENON_FMA_CLOBBERS);
  return 2.0 * 8 * kAccumulators * kRounds;
}
#endif

double batch_baseline(float& sink) {
  float sums[kAccumulators];
  for (int i = 0; i < kAccumulators; ++i) sums[i] = static_cast<float>(i);
  for (int round = 0; round < kRounds; ++round) {
    for (float& sum : sums) sum = sum * 0.999F + 0.001F;
  }
  for (const float sum : sums) sink += sum;
  return 2.0 * kAccumulators * kRounds;
}

struct Isa {
  const char* name;
  Batch batch;
};

Isa best_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return {"avx512", batch_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"avx2", batch_avx2};
#endif
  return {"baseline", batch_baseline};
}

// Runs batches until the slice ends; flops per nanosecond is GFLOP/s.
double run_slice(Batch batch, double milliseconds) {
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::duration_cast<Clock::duration>(
                               std::chrono::duration<double, std::milli>(milliseconds));
  double flops = 0;
  float sink = 0;
  auto now = begin;
  do {
    for (int i = 0; i < 8; ++i) flops += batch(sink);
    now = Clock::now();
  } while (now < end);
  asm volatile("" : : "m"(sink) : "memory");
  return flops / std::chrono::duration<double, std::nano>(now - begin).count();
}

}  // namespace

double measure_peak_gflops(int threads, int slices, double milliseconds) {
  const Batch batch = best_isa().batch;
  run_slice(batch, 2);  // wakes the wide units and the clock
  double best = 0;
  for (int slice = 0; slice < slices; ++slice) {
    std::vector<double> rates(static_cast<size_t>(std::max(threads, 1)));
    std::atomic<int> waiting = static_cast<int>(rates.size());
    const auto work = [&](size_t i) {
      waiting.fetch_sub(1);
      while (waiting.load(std::memory_order_relaxed) > 0) std::this_thread::yield();
      rates[i] = run_slice(batch, milliseconds);
    };
    std::vector<std::thread> helpers;
    for (size_t i = 1; i < rates.size(); ++i) helpers.emplace_back(work, i);
    work(0);
    for (std::thread& helper : helpers) helper.join();
    double total = 0;
    for (const double rate : rates) total += rate;
    best = std::max(best, total);
  }
  return best;
}

const char* peak_probe_isa() { return best_isa().name; }

}  // namespace tenon
