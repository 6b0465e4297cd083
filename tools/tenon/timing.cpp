// See timing.h. Outputs are written into the same memory every time, as a server would.
#include "tools/tenon/timing.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>

namespace tenon::cli {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

constexpr int kFewestRuns = 3, kMostRuns = 100000;

}  // namespace

double Timing::quantile(double q) const {
  const auto rank = static_cast<size_t>(std::ceil(q * static_cast<double>(sorted_ms.size())));
  return sorted_ms[std::clamp<size_t>(rank, 1, sorted_ms.size()) - 1];
}

Timing time_runs(CompiledGraph& graph, const Inputs& inputs, int runs, double seconds) {
  Timing timing;
  auto begin = Clock::now();
  std::vector<OwnedTensor> results = graph.run_typed(inputs.views);
  timing.first_ms = milliseconds_since(begin);
  NamedOutputs outputs;
  for (OwnedTensor& result : results) {
    outputs[result.name] = {result.bytes.data(), result.dtype, result.shape};
  }
  graph.run_into(inputs.views, outputs);
  const auto start = Clock::now();
  for (int i = 0; runs > 0 ? i < runs : i < kMostRuns; ++i) {
    if (runs == 0 && i >= kFewestRuns && milliseconds_since(start) > seconds * 1e3) break;
    begin = Clock::now();
    graph.run_into(inputs.views, outputs);
    timing.sorted_ms.push_back(milliseconds_since(begin));
  }
  std::sort(timing.sorted_ms.begin(), timing.sorted_ms.end());
  return timing;
}

void reset_peak_rss() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

double peak_rss_mb() {
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line)) {
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) / 1024;
  }
  return 0;
}

}  // namespace tenon::cli
