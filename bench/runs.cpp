// What a run costs beyond its kernels when there are many of them, what runs that are waited for
// later cost beside it on a CPU, and whether very many runs on clones leave anything behind.
//
//   bench_runs [steps|asynchronous|clones ...]
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/error.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "tenon/tenon.h"

namespace tenon::bench {
namespace {

constexpr int64_t kWidth = 8;

// A step each, none of which can be fused with another.
CompiledGraph small_linears(int count) {
  Graph g;
  Value x = g.input("x", {{sym::batch(), kWidth}, DType::F32});
  for (int i = 0; i < count; ++i) {
    const std::vector<float> weight(kWidth * kWidth, 0.125F);
    x = g.linear(x, g.param(fmt::format("w{}", i), {{kWidth, kWidth}, DType::F32},
                            std::as_bytes(std::span(weight))));
  }
  g.set_outputs({{"y", x}});
  return Session().compile(g, {.threads = 1});
}

// The kernels are so small that what a run takes is mostly what it costs to get to them.
bool steps() {
  constexpr int kSteps = 60, kCalls = 2000, kRounds = 21;
  CompiledGraph graph = small_linears(kSteps);
  if (graph.stats().steps != kSteps)
    throw internal_error("{} steps, not {}", graph.stats().steps, kSteps);
  graph.set_extents({{"batch", 1}});
  const std::vector<float> x(kWidth, 1);
  const std::vector<std::span<const std::byte>> inputs = {std::as_bytes(std::span(x))};
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) graph.run_slots(inputs);
    times.push_back(seconds_since(start) / kCalls * 1e6);
  }
  return report("a run of 60 kernels", "us_with_kernels", median(times), 20,
                fmt::format(", \"lowest\": {:.3f}", std::ranges::min(times)));
}

// The time of one by that of the other: in turns, and each pair by itself, so that what else the
// machine does falls on both.
template <typename First, typename Second>
double times(const First& first, const Second& second) {
  constexpr int kRounds = 101;
  std::vector<double> ratios;
  for (int round = -3; round < kRounds; ++round) {
    const auto start = Clock::now();
    first();
    const double of_first = seconds_since(start);
    const auto middle = Clock::now();
    second();
    if (round >= 0) ratios.push_back(of_first / seconds_since(middle));
  }
  return median(ratios);
}

// Runs that take some microseconds, where calls would show.
bool asynchronous() {
  constexpr size_t kSets = 200, kRows = 16;
  CompiledGraph graph = small_linears(4);
  const std::vector<float> x(kRows * kWidth, 1);
  std::vector<float> y(kSets * kRows * kWidth);
  const std::vector<int64_t> shape = {kRows, kWidth};
  const std::vector<NamedInputs> sets(kSets, {{"x", view(x, shape)}});
  std::vector<NamedOutputs> outputs(kSets);
  for (size_t i = 0; i < kSets; ++i)
    outputs[i]["y"] = {y.data() + i * kRows * kWidth, DType::F32, shape};
  const double committed = times(
      [&] {
        for (const NamedInputs& set : sets) graph.commit_no_wait(set);
        graph.sync_pending();
      },
      [&] {
        for (const NamedInputs& set : sets) graph.run_raw(set);
      });
  const double pipelined = times([&] { graph.run_pipelined_into(sets, outputs); },
                                 [&] {
                                   for (size_t i = 0; i < kSets; ++i)
                                     graph.run_into(sets[i], outputs[i]);
                                 });
  bool met = report("commit_no_wait of 200 runs", "times_run_raw", committed, 1.05);
  met &= report("run_pipelined_into of 200 sets", "times_run_into", pipelined, 1.05);
  return met;
}

int64_t resident_bytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmRSS:")) return std::stoll(line.substr(6)) * 1024;
  }
  throw user_error("/proc/self/status has no VmRSS");
}

void run_all(std::vector<CompiledGraph>& graphs, int runs) {
  std::vector<std::jthread> threads;
  for (CompiledGraph& graph : graphs) {
    threads.emplace_back([&graph, runs] {
      const std::vector<float> x(16 * kWidth, 1);
      for (int i = 0; i < runs; ++i) graph.run_raw({{"x", view(x, {1 + i % 16, kWidth})}});
    });
  }
}

// Growth after the first twentieth, by when every shape has run on each.
bool clones() {
  constexpr int kClones = 8, kRuns = 1'000'000 / kClones;
  std::vector<CompiledGraph> graphs;
  graphs.push_back(small_linears(4));
  while (graphs.size() < kClones) graphs.push_back(graphs[0].clone());
  run_all(graphs, kRuns / 20);
  const int64_t before = resident_bytes();
  run_all(graphs, kRuns - kRuns / 20);
  const int64_t after = resident_bytes();
  return report("1000000 runs on 8 clones", "kb_more", static_cast<double>(after - before) / 1024,
                64, fmt::format(", \"resident_mb\": {:.1f}", static_cast<double>(after) / 1e6));
}

constexpr Figure kFigures[] = {
    {"steps", steps}, {"asynchronous", asynchronous}, {"clones", clones}};

bool run(std::span<char* const> names) { return measure(kFigures, names); }

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_runs", tenon::bench::run, argc, argv);
}
