// `tenon bench`: times a model at every combination of extents and threads, compiled once. With
// --json one line per configuration on stdout, else a table. Share of peak: the graph's FLOPs over
// what the probe sustains on as many threads, probed before and after each configuration (both are
// given: a run whose two probes differ is not a figure). On GPUs there is no probe. Runs are timed
// from the call until the outputs are back.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "api/peak_probe.h"
#include "base/error.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"
#include "tools/tenon/inputs.h"
#include "tools/tenon/timing.h"

namespace tenon::cli {
namespace {

constexpr int kProbeSlices = 3;

struct Row {
  Extents dims;
  int threads = 1;
  Timing timing;
  double compile_ms = 0, rss_mb = 0, gflops = 0, peak_before = 0, peak_after = 0;
  double share_of_peak() const {
    const double peak = std::max(peak_before, peak_after);
    return peak > 0 ? gflops / peak : 0;
  }
};

std::string json_string(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      quoted += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      quoted += c;
    }
  }
  return quoted + "\"";
}

void print_json(const Row& row, const std::string& device, const std::string& precision) {
  std::vector<std::string> dims;
  for (const auto& [name, extent] : row.dims)
    dims.push_back(fmt::format("{}: {}", json_string(name), extent));
  fmt::print(
      "{{\"dims\": {{{}}}, \"device\": {}, \"threads\": {}, \"precision\": {}, \"runs\": {}, "
      "\"median_ms\": "
      "{:.4f}, "
      "\"min_ms\": {:.4f}, \"p90_ms\": {:.4f}, \"first_ms\": {:.4f}, \"compile_ms\": {:.1f}, "
      "\"peak_rss_mb\": {:.1f}, \"gflops\": {:.2f}, \"share_of_peak\": {:.4f}, "
      "\"peak_gflops_before\": {:.1f}, "
      "\"peak_gflops_after\": {:.1f}}}\n",
      fmt::join(dims, ", "), json_string(device), row.threads, json_string(precision),
      row.timing.sorted_ms.size(), row.timing.median(), row.timing.minimum(),
      row.timing.quantile(0.9), row.timing.first_ms, row.compile_ms, row.rss_mb, row.gflops,
      row.share_of_peak(), row.peak_before, row.peak_after);
  std::fflush(stdout);
}

void print_header() {
  fmt::print("{:<28} {:>7} {:>6} {:>10} {:>10} {:>10} {:>9} {:>8} {:>7}\n", "dims", "threads",
             "runs", "median ms", "min ms", "p90 ms", "of peak", "RSS MiB", "compile");
}

void print_row(const Row& row) {
  const double share = row.share_of_peak();
  fmt::print("{:<28} {:>7} {:>6} {:>10.3f} {:>10.3f} {:>10.3f} {:>9} {:>8.1f} {:>7.0f}\n",
             to_string(row.dims), row.threads, row.timing.sorted_ms.size(), row.timing.median(),
             row.timing.minimum(), row.timing.quantile(0.9),
             share > 0 ? fmt::format("{:.1f}%", 100 * share) : "-", row.rss_mb, row.compile_ms);
  std::fflush(stdout);
}

Row measure(CompiledGraph& graph, const Inputs& inputs, int threads, const BenchOptions& options) {
  Row row;
  graph.set_threads(threads);
  row.threads = graph.threads();
  row.dims = inputs.dims;
  fmt::print(stderr, "tenon: {} threads={}\n", to_string(row.dims), row.threads);
  const bool probe = graph.device().kind() == Device::Kind::Cpu;
  if (probe) row.peak_before = measure_peak_gflops(row.threads, kProbeSlices, options.probe_ms);
  row.timing = time_runs(graph, inputs, options.runs, options.seconds);
  if (probe) row.peak_after = measure_peak_gflops(row.threads, kProbeSlices, options.probe_ms);
  fmt::print(stderr, "tenon: the first run took {:.3f} ms\n", row.timing.first_ms);
  row.rss_mb = peak_rss_mb();
  row.gflops = graph.flops_of_last_run() / (row.timing.median() * 1e6);
  return row;
}

}  // namespace

void bench(const BenchOptions& options) {
  const std::vector<Extents> product = cartesian_product(parse_dims(options.dims));
  std::vector<int> threads;
  if (!options.threads.empty()) threads = parse_threads(options.threads);
  const std::vector<GivenInput> given = read_inputs(options.inputs);
  reset_peak_rss();
  CompiledGraph graph = compile_model(options, 0);
  double compile_ms = graph.stats().milliseconds;
  if (threads.empty()) threads = {graph.threads()};
  for (int& count : threads) count = use_threads(graph, count);
  std::vector<Inputs> plans;  // all of them before the first is measured: a bad one costs no time
  for (const Extents& extents : product) plans.push_back(plan_inputs(graph, given, extents));
  say_defaults(plans[0]);
  if (!options.json) print_header();
  for (Inputs& inputs : plans) {
    fill_inputs(graph, given, inputs);
    for (const int count : threads) {
      Row row = measure(graph, inputs, count, options);
      row.compile_ms = std::exchange(compile_ms, 0);
      options.json ? print_json(row, to_string(graph.device()), options.precision) : print_row(row);
      reset_peak_rss();
    }
    inputs = {};
  }
}

}  // namespace tenon::cli
