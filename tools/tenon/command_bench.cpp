// `tenon bench`: times a model at every combination of extents and threads, compiled once. With
// --json one line per configuration on stdout, else a table. Share of peak: the graph's FLOPs over
// what the probe sustains on as many threads, probed before and after each configuration (both are
// given: a run whose two probes differ is not a figure). On GPUs there is no probe. Runs are timed
// from the call until the outputs are back. With a precision other than f32, results are compared
// with those of f32; with receipts each kernel is held against the machine.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/json_text.h"
#include "measure/peak_probe.h"
#include "tools/tenon/accuracy.h"
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
  std::optional<double> error;        // beside f32
  std::optional<RunReceipt> receipt;  // where they were asked for
  double share_of_peak() const {
    const double peak = std::max(peak_before, peak_after);
    return peak > 0 ? gflops / peak : 0;
  }
};

void print_json(const Row& row, const std::string& device, const std::string& precision) {
  std::vector<std::string> dims;
  for (const auto& [name, extent] : row.dims)
    dims.push_back(fmt::format("{}: {}", json_text(name), extent));
  fmt::print(
      "{{\"dims\": {{{}}}, \"device\": {}, \"threads\": {}, \"precision\": {}, \"runs\": {}, "
      "\"median_ms\": "
      "{:.4f}, "
      "\"min_ms\": {:.4f}, \"p90_ms\": {:.4f}, \"first_ms\": {:.4f}, \"compile_ms\": {:.1f}, "
      "\"peak_rss_mb\": {:.1f}, \"gflops\": {:.2f}, \"share_of_peak\": {:.4f}, "
      "\"peak_gflops_before\": {:.1f}, "
      "\"peak_gflops_after\": {:.1f}",
      fmt::join(dims, ", "), json_text(device), row.threads, json_text(precision),
      row.timing.sorted_ms.size(), row.timing.median(), row.timing.minimum(),
      row.timing.quantile(0.9), row.timing.first_ms, row.compile_ms, row.rss_mb, row.gflops,
      row.share_of_peak(), row.peak_before, row.peak_after);
  if (row.error) fmt::print(", \"error_vs_f32\": {:.3e}", *row.error);
  if (row.receipt) fmt::print(", \"receipt\": {}", row.receipt->to_json());
  fmt::print("}}\n");
  std::fflush(stdout);
}

void print_header() {
  fmt::print("{:<28} {:>7} {:>6} {:>10} {:>10} {:>10} {:>9} {:>8} {:>7} {:>9}\n", "dims", "threads",
             "runs", "median ms", "min ms", "p90 ms", "of peak", "RSS MiB", "compile", "error");
}

void print_row(const Row& row) {
  const double share = row.share_of_peak();
  fmt::print("{:<28} {:>7} {:>6} {:>10.3f} {:>10.3f} {:>10.3f} {:>9} {:>8.1f} {:>7.0f} {:>9}\n",
             to_string(row.dims), row.threads, row.timing.sorted_ms.size(), row.timing.median(),
             row.timing.minimum(), row.timing.quantile(0.9),
             share > 0 ? fmt::format("{:.1f}%", 100 * share) : "-", row.rss_mb, row.compile_ms,
             row.error ? fmt::format("{:.1e}", *row.error) : "-");
  if (row.receipt) fmt::print("\n{}\n", row.receipt->to_string());
  std::fflush(stdout);
}

Row measure(CompiledGraph& graph, const Inputs& inputs, int threads, const BenchOptions& options) {
  Row row;
  graph.set_threads(threads);
  row.threads = graph.threads();
  row.dims = inputs.dims;
  fmt::print(stderr, "tenon: {} threads={}\n", to_string(row.dims), row.threads);
  const bool probe = graph.device().kind() == Device::Kind::Cpu;
  const auto peak = [&] {
    return probe ? measure::measure_peak_gflops(row.threads, kProbeSlices, options.probe_ms) : 0;
  };
  row.peak_before = peak();
  row.timing = time_runs(graph, inputs, options.runs, options.seconds);
  row.peak_after = peak();
  fmt::print(stderr, "tenon: the first run took {:.3f} ms\n", row.timing.first_ms);
  row.rss_mb = peak_rss_mb();
  row.gflops = graph.flops_of_last_run() / (row.timing.median() * 1e6);
  if (options.wants_receipts())
    row.receipt =
        graph.receipt(inputs.views, {.seconds = options.seconds, .slice_ms = options.probe_ms});
  return row;
}

// Whether the row is what the command line requires; what is not is said.
bool meets(const Row& row, const BenchOptions& options) {
  if (!row.receipt) return true;
  const auto lines = row.receipt->below(options.require / 100, options.require_kernel / 100);
  for (const std::string& line : lines)
    fmt::print(stderr, "tenon: {} threads={}: {}\n", to_string(row.dims), row.threads, line);
  return lines.empty();
}

}  // namespace

int bench(const BenchOptions& options) {
  const std::vector<Extents> product = cartesian_product(parse_dims(options.dims));
  std::vector<int> threads;
  if (!options.threads.empty()) threads = parse_threads(options.threads);
  const std::vector<GivenInput> given = read_inputs(options.inputs);
  const std::vector<Outputs> in_f32 = outputs_in_f32(options, given, product);
  reset_peak_rss();
  CompiledGraph graph = compile_model(options, 0);
  double compile_ms = graph.stats().milliseconds;
  if (threads.empty()) threads = {graph.threads()};
  for (int& count : threads) count = use_threads(graph, count);
  std::vector<Inputs> plans;  // all of them before the first is measured: a bad one costs no time
  for (const Extents& extents : product) plans.push_back(plan_inputs(graph, given, extents));
  say_defaults(plans[0]);
  if (!options.json) print_header();
  bool met = true;
  for (size_t i = 0; i < plans.size(); ++i) {
    Inputs& inputs = plans[i];
    fill_inputs(graph, given, inputs);
    std::optional<double> error;
    for (const int count : threads) {
      Row row = measure(graph, inputs, count, options);
      row.compile_ms = std::exchange(compile_ms, 0);
      if (!in_f32.empty() && !error) error = error_of(graph.run_typed(inputs.views), in_f32[i]);
      row.error = error;
      options.json ? print_json(row, to_string(graph.device()), options.precision) : print_row(row);
      met = meets(row, options) && met;
      reset_peak_rss();
    }
    inputs = {};
  }
  return met ? 0 : 1;
}

}  // namespace tenon::cli
