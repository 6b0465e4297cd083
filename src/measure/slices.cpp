#include "measure/slices.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <thread>
#include <vector>

namespace tenon::measure {

double best_of_slices(int threads, int slices, FunctionRef<double(int thread)> rate) {
  double best = 0;
  for (int slice = 0; slice < slices; ++slice) {
    std::vector<double> rates(static_cast<size_t>(std::max(threads, 1)));
    std::atomic<int> waiting = static_cast<int>(rates.size());
    const auto work = [&](size_t i) {
      waiting.fetch_sub(1);
      while (waiting.load(std::memory_order_relaxed) > 0) std::this_thread::yield();
      rates[i] = rate(static_cast<int>(i));
    };
    std::vector<std::thread> helpers;
    for (size_t i = 1; i < rates.size(); ++i) helpers.emplace_back(work, i);
    work(0);
    for (std::thread& helper : helpers) helper.join();
    best = std::max(best, std::accumulate(rates.begin(), rates.end(), 0.0));
  }
  return best;
}

}  // namespace tenon::measure
