// What a hit costs, in the store under all caches and in the caches themselves, and whether threads
// that hit different entries disturb each other.
//
//   bench_cache [hit|threads|compile_cache|buckets|dims|components ...]
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <latch>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "bench/program.h"
#include "bench/report.h"
#include "cache/memory_store.h"
#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

using Store = cache::MemoryStore<uint64_t, uint64_t>;
using Clock = std::chrono::steady_clock;

constexpr uint64_t kEntries = 64, kHits = 50'000;
constexpr int kRounds = 101;

uint64_t key_of(uint64_t i) { return i << 32 | (i * 37 % 256); }  // batch and sequence

void fill(Store& store) {
  for (uint64_t i = 0; i < kEntries; ++i)
    store.get_or_make(key_of(i), [&] { return std::make_shared<uint64_t>(i); });
}

// Hits entries `first`, `first + step`, ...
void hit(Store& store, uint64_t first, uint64_t step) {
  uint64_t sum = 0;
  for (uint64_t n = 0, i = first; n < kHits; ++n, i = (i + step) % kEntries)
    sum += *store.get_or_make(key_of(i), [] { return std::make_shared<uint64_t>(0); });
  if (sum == 1) fmt::print("\n");  // so that it is computed
}

// The least nanoseconds per hit of all threads together: other work on the machine only adds.
double nanoseconds(cache::Order order, uint64_t threads, bool same_entries) {
  Store store(kEntries, order);
  fill(store);
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    std::latch start(static_cast<std::ptrdiff_t>(threads));
    std::vector<Clock::time_point> begin(threads), end(threads);
    std::vector<std::jthread> running;
    for (uint64_t t = 0; t < threads; ++t) {
      running.emplace_back([&, t] {
        start.arrive_and_wait();
        begin[t] = Clock::now();
        same_entries ? hit(store, 0, 1) : hit(store, t, threads);
        end[t] = Clock::now();
      });
    }
    running.clear();
    const auto took = std::ranges::max(end) - std::ranges::min(begin);
    times.push_back(std::chrono::duration<double, std::nano>(took).count() /
                    static_cast<double>(threads * kHits));
  }
  return std::ranges::min(times);
}

bool hits() {
  return report("a hit", "ns", nanoseconds(cache::Order::Fifo, 1, false), 300,
                fmt::format(", \"lru\": {:.3f}", nanoseconds(cache::Order::Lru, 1, false)));
}

// Each thread has entries of its own; those that share an entry share its reference count.
bool threads() {
  const double one = nanoseconds(cache::Order::Fifo, 1, false);
  const double two = nanoseconds(cache::Order::Fifo, 2, false);
  const double shared = nanoseconds(cache::Order::Fifo, 2, true);
  return report("hits of 2 threads", "of_one_thread", two / one, 1 / 1.8,
                fmt::format(", \"faster\": {:.3f}, \"faster_on_the_same_entries\": {:.3f}",
                            one / two, one / shared));
}

Graph doubled() {
  Graph g;
  const Value x = g.input("x", {{4}, DType::F32});
  g.set_outputs({{"y", g.add(x, x)}});
  return g;
}

// The least nanoseconds of a call.
template <typename Call>
double nanoseconds_of(const Call& call) {
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto begin = Clock::now();
    for (uint64_t n = 0; n < kHits; ++n) call(n);
    const std::chrono::duration<double, std::nano> took = Clock::now() - begin;
    times.push_back(took.count() / static_cast<double>(kHits));
  }
  return std::ranges::min(times);
}

bool compile_cache() {
  CompileCache cache(Device::Cpu(), kEntries);
  const auto get = [&](uint64_t n) { cache.get_or_compile(key_of(n % kEntries), doubled); };
  for (uint64_t n = 0; n < kEntries; ++n) get(n);
  return report("a hit in a CompileCache", "ns", nanoseconds_of(get), 300);
}

bool buckets() {
  BucketedCompileCache cache(Device::Cpu(), BucketedCompileCache::power_of_two_ladder(1, 1 << 20));
  const auto get = [&](uint64_t n) {
    cache.get_or_compile(int64_t{1} << n % 20, [](int64_t) { return doubled(); });
  };
  for (uint64_t n = 0; n < 20; ++n) get(n);
  return report("a hit in a BucketedCompileCache", "ns", nanoseconds_of(get), 300);
}

Graph doubled_rows() {
  Graph g;
  const Value x = g.input("x", {{sym::batch(), sym::seq(), 4}, DType::F32});
  g.set_outputs({{"y", g.add(x, x)}});
  return g;
}

bool dims() {
  DynamicDimCompileCache cache(Device::Cpu(), kEntries);
  const auto get = [&](uint64_t n) {
    const auto batch = static_cast<int64_t>(1 + n % kEntries);
    cache.get_or_specialize(CompileCache::shape_key(batch, 8), DimBinding::batch_seq(batch, 8),
                            doubled_rows);
  };
  for (uint64_t n = 0; n < kEntries; ++n) get(n);
  return report("a hit in a DynamicDimCompileCache", "ns", nanoseconds_of(get), 300);
}

bool components() {
  ModelCompilePipeline pipeline(Device::Cpu(), kEntries);
  const auto get = [&](uint64_t n) {
    pipeline.get_or_compile(DimBinding::batch_seq(static_cast<int64_t>(1 + n % kEntries), 8),
                            doubled_rows);
  };
  for (uint64_t n = 0; n < kEntries; ++n) get(n);
  return report("a hit in a ModelCompilePipeline", "ns", nanoseconds_of(get), 300);
}

constexpr Figure kFigures[] = {
    {"hit", hits},        {"threads", threads}, {"compile_cache", compile_cache},
    {"buckets", buckets}, {"dims", dims},       {"components", components}};

bool run(std::span<char* const> names) { return measure(kFigures, names); }

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_cache", tenon::bench::run, argc, argv);
}
