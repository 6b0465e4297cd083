// Share of this machine's bandwidth at one thread, working sets of 512 MB: what is bound by memory
// against an independent probe that reads and writes the same memory in the same mix through the
// caches, one second before and after. (A transpose of this size is written past them.) Rounds
// whose probes differ by over 3% are left out; a row's share is the median of up to five.
//
//   bench_memory [ROW...] [--rounds N]      at most so many
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "bench/program.h"
#include "bench/subject.h"
#include "graph/graph.h"
#include "measure/bandwidth_probe.h"

namespace tenon::bench {
namespace {

using measure::Store;
using measure::Traffic;

constexpr size_t kRounds = 5;
constexpr double kMostDrift = 0.03;
using Shapes = std::vector<std::vector<int64_t>>;

TensorType matrix() { return {{Symbol("rows"), Symbol("columns")}, DType::F32}; }
TensorType rows_of(int64_t width) { return {{Symbol("rows"), width}, DType::F32}; }

graph::Value multiply_add_relu(graph::Graph& g) {
  const auto a = g.input("a", matrix()), b = g.input("b", matrix()), c = g.input("c", matrix());
  return g.relu(g.add(g.mul(a, b), c));
}
graph::Value softmax(graph::Graph& g) { return g.softmax(g.input("x", rows_of(1024)), -1); }
graph::Value layer_norm(graph::Graph& g) {
  const TensorType row{{1024}, DType::F32};
  const auto x = g.input("x", rows_of(1024));
  return g.layer_norm(x, g.param("scale", row), g.param("bias", row), 1e-5);
}
graph::Value sum_of_rows(graph::Graph& g) {
  return g.reduce(graph::Op::ReduceSum, g.input("x", matrix()), {1});
}
graph::Value sum_of_columns(graph::Graph& g) {
  return g.reduce(graph::Op::ReduceSum, g.input("x", matrix()), {0});
}
graph::Value transpose(graph::Graph& g) { return g.transpose(g.input("x", matrix()), {1, 0}); }

struct Row {
  const char* name;
  graph::Value (*build)(graph::Graph&);
  Shapes shapes;
  Store store;
  double gate;
};

const Row kRows[] = {
    {"multiply_add_relu",
     multiply_add_relu,
     {{32768, 1024}, {32768, 1024}, {32768, 1024}},
     Store::Cached,
     0.85},
    {"softmax", softmax, {{65536, 1024}}, Store::Cached, 0.85},
    {"layer_norm", layer_norm, {{65536, 1024}}, Store::Cached, 0.85},
    {"sum_of_rows", sum_of_rows, {{131072, 1024}}, Store::None, 0.85},
    {"sum_of_columns", sum_of_columns, {{131072, 1024}}, Store::None, 0.85},
    {"transpose", transpose, {{16384, 8192}}, Store::Cached, 0.60},
};

// What must move: each input once, and an output of the inputs' size once.
double bytes_of(const Row& row) {
  double streams = static_cast<double>(row.shapes.size());
  if (row.store != Store::None) ++streams;
  return streams * static_cast<double>(row.shapes[0][0] * row.shapes[0][1]) * 4;
}

Traffic traffic_of(const Row& row, Subject& subject) {
  Traffic traffic{.store = row.store, .count = row.shapes[0][0] * row.shapes[0][1]};
  for (const runtime::IoView& input : subject.inputs())
    traffic.reads.push_back(static_cast<const float*>(input.data));
  if (row.store != Store::None) traffic.write = subject.output();
  return traffic;
}

// GB/s of the kernel, and of the probe where it was faster: before or after.
struct Round {
  double kernel, probe, drift;
  double share() const { return kernel / probe; }
};

Round measure_round(const Row& row, Subject& subject) {
  const Traffic traffic = traffic_of(row, subject);
  const double before = measure_bandwidth(traffic, 1);
  std::vector<double> rates;
  const auto start = Clock::now();
  while (seconds_since(start) < 1 || rates.size() < 7) {
    const auto run = Clock::now();
    subject.run();
    rates.push_back(bytes_of(row) / seconds_since(run) * 1e-9);
  }
  const double after = measure_bandwidth(traffic, 1);
  std::ranges::nth_element(rates, rates.begin() + static_cast<ptrdiff_t>(rates.size() / 2));
  const double probe = std::max(before, after);
  return {rates[rates.size() / 2], probe, std::abs(before - after) / probe};
}

// Prints a JSON line; true where the share reaches the gate.
bool measure(const Row& row, int most_rounds) {
  graph::Graph g;
  g.set_outputs({{"y", row.build(g)}});
  Subject subject(g);
  subject.bind(row.shapes);
  std::vector<Round> rounds;
  for (int i = 0; i < most_rounds && rounds.size() < kRounds; ++i) {
    const Round round = measure_round(row, subject);
    const bool steady = round.drift <= kMostDrift;
    fmt::print(
        stderr, "{}: {:.2f} GB/s, probe {:.2f}, share {:.3f}{}\n", row.name, round.kernel,
        round.probe, round.share(),
        steady ? "" : fmt::format("; left out, the probes differ by {:.1f}%", 100 * round.drift));
    if (steady) rounds.push_back(round);
  }
  if (rounds.empty()) {
    fmt::print("{{\"kernel\": \"{}\", \"rounds\": 0, \"met\": false}}\n", row.name);
    return false;
  }
  std::ranges::sort(rounds, {}, &Round::share);
  const Round& median = rounds[rounds.size() / 2];
  const bool met = median.share() >= row.gate;
  fmt::print(
      "{{\"kernel\": \"{}\", \"threads\": 1, \"rounds\": {}, \"gbps\": {:.2f}, \"probe\": {:.2f}, "
      "\"share\": {:.3f}, \"lowest\": {:.3f}, \"gate\": {}, \"met\": {}}}\n",
      row.name, rounds.size(), median.kernel, median.probe, median.share(), rounds[0].share(),
      row.gate, met);
  std::fflush(stdout);
  return met;
}

bool run(std::span<char* const> words) {
  std::vector<std::string> only;
  int most_rounds = 25;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (word == "--rounds" && i + 1 < words.size()) {
      most_rounds = std::atoi(words[++i]);
    } else if (std::ranges::any_of(kRows, [&](const Row& row) { return row.name == word; })) {
      only.push_back(word);
    } else {
      std::string names;
      for (const Row& row : kRows) names += fmt::format(" {}", row.name);
      throw user_error("usage: bench_memory [ROW...] [--rounds N], where ROW is one of{}", names);
    }
  }
  bool met = true;
  for (const Row& row : kRows) {
    if (only.empty() || std::ranges::find(only, row.name) != only.end())
      met &= measure(row, most_rounds);
  }
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_memory", tenon::bench::run, argc, argv);
}
