// Share of this machine's bandwidth at one thread, working sets of 512 MB: what is bound by memory
// against an independent probe that reads and writes the same memory in the same mix with the same
// kind of store, one second before and after; a row whose probes differ by over 3% is taken again.
//
//   bench_memory [ROW...] [--tries N]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "bench/bandwidth_probe.h"
#include "bench/program.h"
#include "bench/subject.h"
#include "graph/graph.h"

namespace tenon::bench {
namespace {

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

// Prints a JSON line; true where the share reaches the gate.
bool measure(const Row& row, int tries) {
  graph::Graph g;
  g.set_outputs({{"y", row.build(g)}});
  Subject subject(g);
  subject.bind(row.shapes);
  const Traffic traffic = traffic_of(row, subject);
  for (int attempt = 0; attempt < tries; ++attempt) {
    const double before = measure_bandwidth(traffic, 1);
    std::vector<double> rates;
    const auto start = Clock::now();
    while (seconds_since(start) < 2 || rates.size() < 7) {
      const auto run = Clock::now();
      subject.run();
      rates.push_back(bytes_of(row) / seconds_since(run) * 1e-9);
    }
    const double after = measure_bandwidth(traffic, 1);
    const double drift = std::abs(before - after) / std::max(before, after);
    if (drift > 0.03) {
      fmt::print(stderr, "{}: probes differ by {:.1f}%, taken again\n", row.name, 100 * drift);
      continue;
    }
    std::sort(rates.begin(), rates.end());
    const double limit = std::max(before, after), median = rates[rates.size() / 2];
    fmt::print(
        "{{\"kernel\": \"{}\", \"threads\": 1, \"gbps_median\": {:.2f}, \"gbps_best\": {:.2f}, "
        "\"probe\": {:.2f}, \"share\": {:.3f}, \"gate\": {}, \"met\": {}}}\n",
        row.name, median, rates.back(), limit, median / limit, row.gate,
        median / limit >= row.gate);
    std::fflush(stdout);
    return median / limit >= row.gate;
  }
  fmt::print("{{\"kernel\": \"{}\", \"discarded\": {}, \"met\": false}}\n", row.name, tries);
  return false;
}

bool run(std::span<char* const> words) {
  std::vector<std::string> only;
  int tries = 7;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    if (word == "--tries" && i + 1 < words.size()) {
      tries = std::atoi(words[++i]);
    } else if (std::ranges::any_of(kRows, [&](const Row& row) { return row.name == word; })) {
      only.push_back(word);
    } else {
      std::string names;
      for (const Row& row : kRows) names += fmt::format(" {}", row.name);
      throw user_error("usage: bench_memory [ROW...] [--tries N], where ROW is one of{}", names);
    }
  }
  bool met = true;
  for (const Row& row : kRows) {
    if (only.empty() || std::ranges::find(only, row.name) != only.end()) met &= measure(row, tries);
  }
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_memory", tenon::bench::run, argc, argv);
}
