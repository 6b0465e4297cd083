#include "measure/bandwidth_probe.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <span>

#include "runtime/memory_block.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tenon::measure {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

constexpr int kMostReads = 3;
constexpr int64_t kLeastBetweenLooks = int64_t{1} << 18;  // floats

struct Streams {
  std::array<const float*, kMostReads> in{};
  float* out = nullptr;
  int64_t count = 0;  // floats in each, a multiple of kStride
};

constexpr int64_t kLine = 16, kLines = 4, kStride = kLine * kLines;  // floats

using Sweep = float (*)(const Streams&);

#if defined(__x86_64__)
// Written out, for compilers that would rather keep the sums of a loop in memory.
#define TENON_SWEEP_LINE(line)                                                     \
  {                                                                                \
    const int64_t at = i + (line) * kLine;                                         \
    __m512 x = _mm512_load_ps(streams.in[0] + at);                                 \
    for (size_t r = 1; r < reads; ++r) {                                           \
      x = _mm512_add_ps(x, _mm512_load_ps(streams.in[r] + at));                    \
    }                                                                              \
    if constexpr (store == Store::None) sum##line = _mm512_add_ps(sum##line, x);   \
    if constexpr (store == Store::Cached) _mm512_store_ps(streams.out + at, x);    \
    if constexpr (store == Store::Streamed) _mm512_stream_ps(streams.out + at, x); \
  }

template <int reads, Store store>
__attribute__((target("avx512f"))) float sweep_avx512(const Streams& given) {
  const Streams streams = given;  // nothing that is stored changes it
  __m512 sum0 = {}, sum1 = {}, sum2 = {}, sum3 = {};
  for (int64_t i = 0; i < streams.count; i += kStride) {
    TENON_SWEEP_LINE(0)
    TENON_SWEEP_LINE(1)
    TENON_SWEEP_LINE(2)
    TENON_SWEEP_LINE(3)
  }
  alignas(64) float lanes[kLine];
  _mm512_store_ps(lanes, sum0 + sum1 + sum2 + sum3);
  return std::accumulate(lanes, lanes + kLine, 0.0F);
}
#undef TENON_SWEEP_LINE
#endif

template <int reads, Store store>
float sweep_baseline(const Streams& streams) {
  float sums[kStride] = {};
  for (int64_t i = 0; i < streams.count; i += kStride) {
    for (int64_t lane = 0; lane < kStride; ++lane) {
      float x = streams.in[0][i + lane];
      for (size_t r = 1; r < reads; ++r) x += streams.in[r][i + lane];
      if constexpr (store == Store::None) sums[lane] += x;
      if constexpr (store != Store::None) streams.out[i + lane] = x;
    }
  }
  return std::accumulate(sums, sums + kStride, 0.0F);
}

template <int reads, Store store>
Sweep sweep_for() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return sweep_avx512<reads, store>;
#endif
  return sweep_baseline<reads, store>;
}

template <int reads>
Sweep sweep_for(Store store) {
  return store == Store::None     ? sweep_for<reads, Store::None>()
         : store == Store::Cached ? sweep_for<reads, Store::Cached>()
                                  : sweep_for<reads, Store::Streamed>();
}

}  // namespace

double measure_bandwidth(const Traffic& traffic, double seconds) {
  Streams given{.out = traffic.write, .count = traffic.count / kStride * kStride};
  std::ranges::copy(traffic.reads, given.in.begin());
  const size_t reads = traffic.reads.size();
  const Sweep sweep = reads == 1   ? sweep_for<1>(traffic.store)
                      : reads == 2 ? sweep_for<2>(traffic.store)
                                   : sweep_for<3>(traffic.store);
  // What is in a cache is swept several times between two looks at the clock.
  const int64_t at_once =
      std::max<int64_t>(kLeastBetweenLooks / std::max<int64_t>(given.count, 1), 1);
  float sink = 0;
  int64_t sweeps = 0;
  const auto begin = Clock::now();
  do {
    for (int64_t i = 0; i < at_once; ++i) sink += sweep(given);
    sweeps += at_once;
  } while (seconds_since(begin) < seconds);
  const double elapsed = seconds_since(begin);
  asm volatile("" : : "m"(sink) : "memory");
  const auto streams = static_cast<double>(reads + (traffic.store == Store::None ? 0 : 1));
  return 4 * streams * static_cast<double>(given.count) * static_cast<double>(sweeps) / elapsed *
         1e-9;
}

double read_rate() {
  constexpr int64_t kCount = int64_t{1} << 27;
  static runtime::MemoryBlock memory = [] {
    runtime::MemoryBlock block;
    block.reserve(kCount * int64_t{sizeof(float)}, "the read probe").throw_if_error();
    std::ranges::fill(std::span(reinterpret_cast<float*>(block.data()), kCount), 1.F);
    return block;
  }();
  return measure_bandwidth({.reads = {reinterpret_cast<const float*>(memory.data())},
                            .write = nullptr,
                            .store = Store::None,
                            .count = kCount},
                           0.5);
}

}  // namespace tenon::measure
