// What compiling costs, and what a run costs beyond its arithmetic:
//   kernels   one graph of one kernel from source to machine code, no cache: 5 ms for elementwise
//             work, 8 ms for a reduction
//   graph     a large graph through every stage but code generation: 3 s for 20,000 nodes, and at
//             most 5 times what 5,000 take
//   overhead  a chain of 100 small kernels on one thread: under a microsecond each
//
//   bench_compile [kernels|graph|overhead]
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "base/cpu_info.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "driver/pipeline.h"
#include "graph/graph.h"

namespace tenon::bench {
namespace {

driver::Options for_this_machine() {
  driver::Options options;
  options.cpu = cpu_info();
  return options;
}

// Each is another kernel each time: a constant differs, so that no cache can answer.
graph::Value elementwise(graph::Graph& g, int number) {
  const TensorType type{{Symbol("rows"), Symbol("columns")}, DType::F32};
  const auto a = g.input("a", type), b = g.input("b", type), c = g.input("c", type);
  return g.relu(g.add(g.mul(g.mul(a, b), g.scalar(DType::F32, 1 + number)), c));
}
graph::Value softmax(graph::Graph& g, int number) {
  const auto x = g.input("x", {{Symbol("rows"), Symbol("columns")}, DType::F32});
  return g.softmax(g.mul(x, g.scalar(DType::F32, 1 + number)), -1);
}
graph::Value layer_norm(graph::Graph& g, int number) {
  const TensorType row{{1024}, DType::F32};
  const auto x = g.input("x", {{Symbol("rows"), 1024}, DType::F32});
  return g.layer_norm(x, g.param("scale", row), g.param("bias", row), 1e-5 * (1 + number));
}
graph::Value row_sum(graph::Graph& g, int number) {
  const auto x = g.input("x", {{Symbol("rows"), Symbol("columns")}, DType::F32});
  return g.reduce(graph::Op::ReduceSum, g.mul(x, g.scalar(DType::F32, 1 + number)), {1});
}
graph::Value column_sum(graph::Graph& g, int number) {
  const auto x = g.input("x", {{Symbol("rows"), Symbol("columns")}, DType::F32});
  return g.reduce(graph::Op::ReduceSum, g.mul(x, g.scalar(DType::F32, 1 + number)), {0});
}

bool kernels() {
  struct Row {
    const char* name;
    graph::Value (*build)(graph::Graph&, int number);
    double gate;
  };
  constexpr Row kRows[] = {{"compile multiply_add_relu", elementwise, 5},
                           {"compile softmax", softmax, 8},
                           {"compile layer_norm", layer_norm, 8},
                           {"compile sum_of_rows", row_sum, 8},
                           {"compile sum_of_columns", column_sum, 8}};
  bool met = true;
  for (const Row& row : kRows) {
    std::vector<double> times;
    for (int number = 0; number < 21; ++number) {
      graph::Graph g;
      g.set_outputs({{"y", row.build(g, number)}});
      const auto start = Clock::now();
      const driver::Compiled compiled = driver::compile(g, for_this_machine());
      times.push_back(seconds_since(start) * 1e3);
      if (compiled.kernels != 1) throw user_error("{}: {} kernels", row.name, compiled.kernels);
    }
    met &= report(row.name, "ms_median", median(times), row.gate,
                  fmt::format(", \"ms_first\": {:.3f}", times[0]));
  }
  return met;
}

// A model of about `nodes` nodes in blocks of 20: a linear layer, a norm written out in primitives,
// movement, a softmax. Eight widths, so that kernels repeat as in real models, not entirely.
graph::Graph large_graph(int nodes) {
  graph::Graph g;
  graph::Value x = g.input("x", {{Symbol("rows"), 64}, DType::F32});
  for (int block = 0; block < nodes / 20; ++block) {
    const int64_t width = 32 + 16 * (block % 8);
    const auto param = [&](const char* stem, Shape shape) {
      return g.param(fmt::format("{}{}", stem, block), {std::move(shape), DType::F32});
    };
    const auto h = g.gelu(g.add(g.matmul(x, param("w", {64, width})), param("b", {width})));
    const auto scaled = g.mul(h, g.scalar(DType::F32, 0.5));
    const auto mean = g.reduce(graph::Op::ReduceMean, scaled, {1});
    const auto centred = g.sub(scaled, mean);
    const auto variance = g.reduce(graph::Op::ReduceMean, g.mul(centred, centred), {1});
    const auto norm = g.div(centred, g.unary(graph::Op::Sqrt, variance));
    const auto halves = g.split(norm, 1, {width / 2, width / 2});
    const auto swapped = g.concat({halves[1], halves[0]}, 1);
    const auto weights = g.softmax(g.add(swapped, norm), 1);
    const auto back = g.matmul(weights, param("v", {width, 64}));
    x = g.add(x, g.relu(back));
  }
  g.set_outputs({{"y", x}});
  return g;
}

double milliseconds_before_codegen(const graph::Graph& graph) {
  double total = 0;
  const driver::Compiled compiled = driver::compile(graph, for_this_machine());
  std::string line =
      fmt::format("  {} kernels, {} steps;", compiled.kernels, compiled.program.steps.size());
  for (const driver::PassTime& pass : compiled.times) {
    line += fmt::format(" {} {:.1f}", pass.pass, pass.milliseconds);
    if (pass.pass != "codegen") total += pass.milliseconds;
  }
  fmt::print(stderr, "{} ms\n", line);
  return total;
}

bool graph() {
  const auto small = large_graph(5000), large = large_graph(20000);
  const auto size = [](const graph::Graph& g) { return g.topological().size(); };
  std::vector<double> small_ms, large_ms, growths;  // in turn, so that noise meets both
  for (int round = 0; round < 7; ++round) {
    small_ms.push_back(milliseconds_before_codegen(small));
    large_ms.push_back(milliseconds_before_codegen(large));
    growths.push_back(large_ms.back() / small_ms.back());
  }
  const double growth = median(growths);
  return report("graph before codegen", "ms", median(large_ms), 3000,
                fmt::format(", \"nodes\": {}", size(large))) &
         report("growth of that from a quarter", "ratio", growth, 5,
                fmt::format(", \"nodes\": {}", size(small)));
}

bool overhead() {
  constexpr int kKernels = 100;
  graph::Graph g;
  graph::Value x = g.input("x", {{Symbol("rows"), 16}, DType::F32});
  for (int i = 0; i < kKernels; ++i) x = g.softmax(x, -1);
  g.set_outputs({{"y", x}});
  const size_t steps = driver::compile(g, for_this_machine()).program.steps.size();
  Subject subject(g);
  subject.bind({{1, 16}});
  double best = 1e9;
  for (int batch = 0; batch < 10; ++batch) {
    constexpr int kRuns = 2000;
    const auto start = Clock::now();
    for (int run = 0; run < kRuns; ++run) subject.run();
    best = std::min(best, seconds_since(start) / kRuns / static_cast<double>(steps) * 1e6);
  }
  return report("small kernel in a chain", "microseconds", best, 1,
                fmt::format(", \"steps\": {}", steps));
}

struct Benchmark {
  std::string_view name;
  bool (*run)();
};
constexpr Benchmark kBenchmarks[] = {
    {"kernels", kernels}, {"graph", graph}, {"overhead", overhead}};

bool run(std::span<char* const> words) {
  if (words.size() > 1) throw user_error("usage: bench_compile [kernels|graph|overhead]");
  bool met = true, found = words.empty();
  for (const Benchmark& b : kBenchmarks) {
    if (!words.empty() && b.name != words[0]) continue;
    found = true;
    met &= b.run();
  }
  if (!found) throw user_error("usage: bench_compile [kernels|graph|overhead]");
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_compile", tenon::bench::run, argc, argv);
}
