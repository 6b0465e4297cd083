// Share of this machine's peak at one thread: a linear layer with bias and erf-GELU, fused
// attention, and the whole encoder. Symbolic rows and lengths: each graph is compiled once for all
// its rows of the table. Peak is an independent FMA probe of one second before and
// after; a row whose probes differ by over 3% is taken again.
//
//   bench_kernels [linear|attention|encoder] [--tries N | --glance] [--rows TEXT]
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
#include "import/onnx/onnx.h"
#include "measure/peak_probe.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon {
namespace {

using bench::Clock;
using bench::seconds_since;
using bench::Subject;

// Best of short slices, probe and kernel in turn: a glance on a busy machine, not a gate.
bool glance(const std::string& name, Subject& subject, double gate) {
  double peak = 0, best = 0;
  for (int round = 0; round < 60; ++round) {
    peak = std::max(peak, measure::measure_peak_gflops(1, 1, 4));
    const auto slice = Clock::now();
    int runs = 0;
    do subject.run(), ++runs;
    while (seconds_since(slice) < 0.004);
    best = std::max(best, subject.flops() * runs / seconds_since(slice) * 1e-9);
  }
  fmt::print(
      "{{\"kernel\": \"{}\", \"threads\": 1, \"glance\": true, \"gflops_best\": {:.1f}, \"peak\": "
      "{:.1f}, "
      "\"share_best\": {:.3f}, \"gate\": {}}}\n",
      name, best, peak, best / peak, gate);
  std::fflush(stdout);
  return true;
}

std::string only_rows;  // --rows TEXT: rows whose name contains it

// Prints a JSON line; true where the share reaches the gate. No tries: only a glance.
bool measure(const std::string& name, Subject& subject, double gate, int tries) {
  if (name.find(only_rows) == std::string::npos) return true;
  if (tries == 0) return glance(name, subject, gate);
  for (int attempt = 0; attempt < tries; ++attempt) {
    const double before = measure::measure_peak_gflops(1, 1, 1000);
    std::vector<double> rates;
    const auto start = Clock::now();
    while (seconds_since(start) < 1.5 || rates.size() < 7) {
      const auto slice = Clock::now();
      int runs = 0;
      do subject.run(), ++runs;
      while (seconds_since(slice) < 0.05);
      rates.push_back(subject.flops() * runs / seconds_since(slice) * 1e-9);
    }
    const double after = measure::measure_peak_gflops(1, 1, 1000);
    const double drift = std::abs(before - after) / std::max(before, after);
    if (drift > 0.03) {
      fmt::print(stderr, "{}: probes differ by {:.1f}%, taken again\n", name, 100 * drift);
      continue;
    }
    std::sort(rates.begin(), rates.end());
    const double peak = std::max(before, after), median = rates[rates.size() / 2];
    fmt::print(
        "{{\"kernel\": \"{}\", \"threads\": 1, \"gflops_median\": {:.1f}, \"gflops_best\": {:.1f}, "
        "\"peak\": {:.1f}, "
        "\"share\": {:.3f}, \"share_best\": {:.3f}, \"gate\": {}, \"met\": {}}}\n",
        name, median, rates.back(), peak, median / peak, rates.back() / peak, gate,
        median / peak >= gate);
    std::fflush(stdout);
    return median / peak >= gate;
  }
  fmt::print("{{\"kernel\": \"{}\", \"discarded\": {}, \"met\": false}}\n", name, tries);
  return false;
}

bool linear(int tries) {
  bool met = true;
  for (const auto& [depth, columns] :
       {std::pair<int64_t, int64_t>{384, 1536}, {1536, 384}, {768, 3072}}) {
    graph::Graph g;
    const auto x = g.input("x", {{Symbol("m"), depth}, DType::F32});
    const auto w = g.param("w", {{depth, columns}, DType::F32});
    const auto b = g.param("b", {{columns}, DType::F32});
    g.set_outputs({{"y", g.linear(x, w, b, {}, graph::Activation::Gelu)}});
    Subject subject(g);
    for (const int64_t rows : {32, 128, 512}) {
      subject.bind({{rows, depth}});
      met &= measure(fmt::format("linear_gelu K={} N={} M={}", depth, columns, rows), subject,
                     rows == 32 ? 0.85 : 0.90, tries);
    }
  }
  return met;
}

bool attention(int tries) {
  bool met = true;
  for (const auto& [heads, width] : {std::pair<int64_t, int64_t>{12, 32}, {16, 64}}) {
    graph::Graph g;
    const TensorType type{Shape::batch_seq(sym::batch(), sym::seq(), heads * width), DType::F32};
    const auto q = g.input("q", type), k = g.input("k", type), v = g.input("v", type);
    g.set_outputs({{"y", g.attention(q, k, v, {.heads = heads, .head_dim = width})}});
    Subject subject(g);
    for (const int64_t seq : {128, 512}) {
      const std::vector<int64_t> shape = {8, seq, heads * width};
      subject.bind({shape, shape, shape});
      met &= measure(fmt::format("attention heads={} width={} batch=8 seq={}", heads, width, seq),
                     subject, 0.60, tries);
    }
  }
  return met;
}

bool encoder(int tries) {
  const auto model = std::make_shared<const std::string>(make_encoder::encoder_model({}));
  Subject subject(onnx::import_bytes(std::as_bytes(std::span(*model)), model, "encoder"));
  bool met = true;
  for (const auto& [batch, gate] : {std::pair<int64_t, double>{8, 0.80}, {1, 0.75}}) {
    const std::vector<int64_t> shape = {batch, 128};
    subject.bind({shape, shape, shape});
    met &= measure(fmt::format("encoder batch={} seq=128", batch), subject, gate, tries);
  }
  return met;
}

struct Benchmark {
  std::string_view name;
  bool (*run)(int tries);
};
constexpr Benchmark kBenchmarks[] = {
    {"linear", linear}, {"attention", attention}, {"encoder", encoder}};

constexpr const char* kUsage =
    "usage: bench_kernels [linear|attention|encoder] [--tries N | --glance] [--rows TEXT]\n";

bool run(std::span<char* const> words) {
  std::string only;
  int tries = 5;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string word = words[i];
    const bool more = i + 1 < words.size();
    if (word == "--tries" && more) {
      tries = std::atoi(words[++i]);
    } else if (word == "--rows" && more) {
      only_rows = words[++i];
    } else if (word == "--glance") {
      tries = 0;
    } else if (std::ranges::any_of(kBenchmarks, [&](const auto& b) { return b.name == word; })) {
      only = word;
    } else {
      throw user_error("{}", kUsage);
    }
  }
  bool met = true;
  for (const Benchmark& b : kBenchmarks) {
    if (only.empty() || only == b.name) met &= b.run(tries);
  }
  return met;
}

}  // namespace
}  // namespace tenon

int main(int argc, char** argv) {
  return tenon::bench::program("bench_kernels", tenon::run, argc, argv);
}
