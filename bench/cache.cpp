// What a hit in the store under all caches costs, and whether threads that hit different entries
// disturb each other.
//
//   bench_cache [hit|threads ...]
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

constexpr Figure kFigures[] = {{"hit", hits}, {"threads", threads}};

bool run(std::span<char* const> names) { return measure(kFigures, names); }

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_cache", tenon::bench::run, argc, argv);
}
