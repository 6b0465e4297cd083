// See peak_probe.h. Enough independent accumulators to cover the latency of a multiply-add (4
// cycles, 2 per cycle: 8; 12 with some slack), all in registers, no memory touched.
#include "measure/peak_probe.h"

#include <chrono>
#include <cstdint>

#include "measure/slices.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenon::measure {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kAccumulators = 12;
constexpr int kRounds = 4096;

// One batch of work: how many floating point operations it was. `sink` keeps the result alive.
using Batch = double (*)(float& sink);

#if defined(__x86_64__)
// In assembly, because compilers would rather keep the accumulators on the stack. OP is the
// instruction, R is zmm or ymm.
#define TENON_STEPS(OP, R)                                                                  \
  OP " %[a], %[b], %%" R "0\n" OP " %[a], %[b], %%" R "1\n" OP " %[a], %[b], %%" R "2\n" OP \
     " %[a], %[b], %%" R "3\n" OP " %[a], %[b], %%" R "4\n" OP " %[a], %[b], %%" R "5\n" OP \
     " %[a], %[b], %%" R "6\n" OP " %[a], %[b], %%" R "7\n" OP " %[a], %[b], %%" R "8\n" OP \
     " %[a], %[b], %%" R "9\n" OP " %[a], %[b], %%" R "10\n" OP " %[a], %[b], %%" R "11\n"
#define TENON_PEAK_LOOP(OP, R)                                                                   \
  "vpxor %%xmm0, %%xmm0, %%xmm0\n vpxor %%xmm1, %%xmm1, %%xmm1\n vpxor %%xmm2, %%xmm2, %%xmm2\n" \
  "vpxor %%xmm3, %%xmm3, %%xmm3\n vpxor %%xmm4, %%xmm4, %%xmm4\n vpxor %%xmm5, %%xmm5, %%xmm5\n" \
  "vpxor %%xmm6, %%xmm6, %%xmm6\n vpxor %%xmm7, %%xmm7, %%xmm7\n vpxor %%xmm8, %%xmm8, %%xmm8\n" \
  "vpxor %%xmm9, %%xmm9, %%xmm9\n vpxor %%xmm10, %%xmm10, %%xmm10\n"                             \
  "vpxor %%xmm11, %%xmm11, %%xmm11\n"                                                            \
  "1:\n" TENON_STEPS(OP, R) "dec %[n]\n jnz 1b\n vmovss %%xmm0, %[sink]\n"
#define TENON_PEAK_CLOBBERS                                                                \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "cc"

// `products` of one instruction: an addition and a multiplication each.
#define TENON_PEAK_BATCH(NAME, OP, R, VECTOR, SET, products) \
  double NAME(float& sink) {                                 \
    int64_t rounds = kRounds;                                \
    const VECTOR a = SET(0.5F), b = SET(0.001F);             \
    asm volatile(TENON_PEAK_LOOP(OP, R)                      \
                 : [n] "+r"(rounds), [sink] "=m"(sink)       \
                 : [a] "v"(a), [b] "v"(b)                    \
                 : TENON_PEAK_CLOBBERS);                     \
    return 2.0 * (products) * kAccumulators * kRounds;       \
  }

__attribute__((target("avx512f"))) TENON_PEAK_BATCH(fma_avx512, "vfmadd231ps", "zmm", __m512,
                                                    _mm512_set1_ps, 16)
    __attribute__((target("avx2,fma")))
    TENON_PEAK_BATCH(fma_avx2, "vfmadd231ps", "ymm", __m256, _mm256_set1_ps, 8)
        __attribute__((target("avx512f")))
        TENON_PEAK_BATCH(bf16_avx512, "vdpbf16ps", "zmm", __m512, _mm512_set1_ps, 32)
            __attribute__((target("avx512f")))
            TENON_PEAK_BATCH(int8_avx512, "vpdpbusd", "zmm", __m512, _mm512_set1_ps, 64)
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
  if (__builtin_cpu_supports("avx512f")) return {"avx512", fma_avx512};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return {"avx2", fma_avx2};
#endif
  return {"baseline", batch_baseline};
}

// Null: the CPU has no such instruction.
Batch batch_of(program::Arithmetic arithmetic) {
  if (arithmetic == program::Arithmetic::F32) return best_isa().batch;
#if defined(__x86_64__)
  if (arithmetic == program::Arithmetic::Bf16 && __builtin_cpu_supports("avx512bf16"))
    return bf16_avx512;
  if (arithmetic == program::Arithmetic::Int8 && __builtin_cpu_supports("avx512vnni"))
    return int8_avx512;
#endif
  return nullptr;
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

double measure_peak_gflops(int threads, int slices, double milliseconds,
                           program::Arithmetic arithmetic) {
  const Batch batch = batch_of(arithmetic);
  if (!batch) return 0;
  run_slice(batch, 2);  // wakes the wide units and the clock
  return best_of_slices(threads, slices,
                        [&](int /*thread*/) { return run_slice(batch, milliseconds); });
}

const char* peak_probe_isa() { return best_isa().name; }

}  // namespace tenon::measure
