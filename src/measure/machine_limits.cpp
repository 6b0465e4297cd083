// See machine_limits.h. Each level is measured on a working set that it holds and the level before
// it does not, each thread on a part of its own.
#include "measure/machine_limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "base/cpu_info.h"
#include "base/error.h"
#include "measure/bandwidth_probe.h"
#include "measure/peak_probe.h"
#include "measure/slices.h"
#include "runtime/memory_block.h"

namespace tenon {
namespace measure {
namespace {

using program::Arithmetic;

constexpr int kSlices = 3;
constexpr double kMostDrift = 0.03;
constexpr int64_t kLeastBeyondCaches = int64_t{256} << 20;

// `set`: bytes that all threads together sweep.
struct Level {
  const char* name;
  int64_t holds, set;
  Store store;
};

std::vector<Level> levels(int threads) {
  const CpuInfo& cpu = cpu_info();
  const int64_t l1 = cpu.l1d * threads, l2 = cpu.l2 * threads, l3 = std::max(cpu.l3, l2);
  const int64_t beyond = std::max(8 * l3, kLeastBeyondCaches);
  return {{"L1", l1, l1 / 2, Store::Cached},
          {"L2", l2, l2 / 2, Store::Cached},
          {"L3", l3, std::max(l3 / 2, std::min(2 * l2, l3)), Store::Cached},
          {"memory", 0, beyond, Store::Streamed}};
}

// Memory of a thread, touched by nobody else.
class Sets {
 public:
  Sets(int threads, int64_t bytes_of_all) {
    const int64_t bytes = bytes_of_all / threads / kUnit * kUnit;
    for (int i = 0; i < threads; ++i) {
      blocks_.emplace_back().reserve(bytes, "the memory probe").throw_if_error();
      std::ranges::fill(floats(i), 1.F);
    }
    count_ = bytes / static_cast<int64_t>(sizeof(float));
  }

  double read(int thread, double seconds) {
    return measure_bandwidth({.reads = {floats(thread).data()}, .count = count_}, seconds);
  }
  // One half to the other.
  double copy(int thread, Store store, double seconds) {
    float* data = floats(thread).data();
    return measure_bandwidth(
        {.reads = {data}, .write = data + count_ / 2, .store = store, .count = count_ / 2},
        seconds);
  }

 private:
  static constexpr int64_t kUnit = 4096;
  std::span<float> floats(int thread) {
    runtime::MemoryBlock& block = blocks_[static_cast<size_t>(thread)];
    return {reinterpret_cast<float*>(block.data()),
            static_cast<size_t>(block.size()) / sizeof(float)};
  }

  std::vector<runtime::MemoryBlock> blocks_;
  int64_t count_ = 0;
};

MemoryLimit measure_level(const Level& level, int threads, double seconds) {
  Sets sets(threads, level.set);
  MemoryLimit limit{.name = level.name, .bytes = level.holds};
  limit.read_gbs =
      best_of_slices(threads, kSlices, [&](int thread) { return sets.read(thread, seconds); });
  const auto copies = [&](Store store) {
    return best_of_slices(threads, kSlices,
                          [&](int thread) { return sets.copy(thread, store, seconds); });
  };
  limit.copy_gbs = copies(Store::Cached);
  if (level.store == Store::Streamed)
    limit.copy_gbs = std::max(limit.copy_gbs, copies(level.store));
  return limit;
}

}  // namespace

double gflops_of(const MachineLimits& limits, Arithmetic arithmetic) {
  const double own = arithmetic == Arithmetic::Bf16   ? limits.bf16_gflops
                     : arithmetic == Arithmetic::Int8 ? limits.int8_gflops
                                                      : limits.f32_gflops;
  return own > 0 ? own : limits.f32_gflops;
}

double read_cost(const MemoryLimit& level) { return 1 / level.read_gbs; }
double write_cost(const MemoryLimit& level) {
  return std::max(2 / level.copy_gbs - 1 / level.read_gbs, 0.0);
}

MachineLimits best_of(const MachineLimits& a, const MachineLimits& b) {
  MachineLimits best = a;
  best.f32_gflops = std::max(a.f32_gflops, b.f32_gflops);
  best.bf16_gflops = std::max(a.bf16_gflops, b.bf16_gflops);
  best.int8_gflops = std::max(a.int8_gflops, b.int8_gflops);
  for (size_t i = 0; i < best.memory.size(); ++i) {
    best.memory[i].read_gbs = std::max(a.memory[i].read_gbs, b.memory[i].read_gbs);
    best.memory[i].copy_gbs = std::max(a.memory[i].copy_gbs, b.memory[i].copy_gbs);
  }
  return best;
}

std::vector<std::string> differences(const MachineLimits& before, const MachineLimits& after,
                                     const std::vector<std::string>& used) {
  std::vector<std::string> lines;
  const auto compare = [&](const std::string& limit, const char* what, double a, double b,
                           const char* unit) {
    const bool counts = std::ranges::find(used, limit) != used.end();
    if (counts && std::abs(a - b) > kMostDrift * std::max(a, b))
      lines.push_back(fmt::format("{}{} {:.1f} and {:.1f} {}", limit, what, a, b, unit));
  };
  compare("f32", "", before.f32_gflops, after.f32_gflops, "GFLOP/s");
  compare("bf16", "", before.bf16_gflops, after.bf16_gflops, "GFLOP/s");
  compare("int8", "", before.int8_gflops, after.int8_gflops, "GFLOP/s");
  for (size_t i = 0; i < before.memory.size(); ++i) {
    const MemoryLimit &a = before.memory[i], &b = after.memory[i];
    compare(a.name, " read", a.read_gbs, b.read_gbs, "GB/s");
    compare(a.name, " copy", a.copy_gbs, b.copy_gbs, "GB/s");
  }
  return lines;
}

}  // namespace measure

MachineLimits measure_machine_limits(int threads, double slice_ms) {
  if (threads < 1) throw user_error("[limits] {} threads: at least 1 is needed", threads);
  using program::Arithmetic;
  const auto peak = [&](Arithmetic arithmetic) {
    return measure::measure_peak_gflops(threads, measure::kSlices, slice_ms, arithmetic);
  };
  MachineLimits limits{.threads = threads,
                       .f32_gflops = peak(Arithmetic::F32),
                       .bf16_gflops = peak(Arithmetic::Bf16),
                       .int8_gflops = peak(Arithmetic::Int8)};
  for (const measure::Level& level : measure::levels(threads))
    limits.memory.push_back(measure::measure_level(level, threads, slice_ms / 1e3));
  return limits;
}

}  // namespace tenon
