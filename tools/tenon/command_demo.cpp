// `tenon demo`: what Tenon is for, in one table. A MiniLM-shape encoder, made once beside the
// program, is compiled with batch and seq symbolic and then serves a dozen requests of different
// shapes: nothing is compiled after the first.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "base/atomic_file.h"
#include "base/error.h"
#include "measure/peak_probe.h"
#include "tools/make_encoder/encoder_model.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"
#include "tools/tenon/inputs.h"
#include "tools/tenon/timing.h"

namespace tenon::cli {
namespace {

struct Request {
  int64_t batch, seq;
};
constexpr Request kRequests[] = {{8, 128}, {1, 16}, {1, 128}, {3, 77},  {1, 512}, {16, 64},
                                 {2, 300}, {5, 9},  {1, 1},   {32, 32}, {4, 255}, {8, 128}};

// In the build folder, beside the folder of this program.
std::string demo_model() {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path folder = program.parent_path().parent_path() / "demo";
  const std::filesystem::path model = folder / "encoder.onnx";
  if (std::filesystem::exists(model)) return model.string();
  fmt::print(stderr, "tenon: making {} ...\n", model.string());
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) throw user_error("{}: cannot be made: {}", folder.string(), problem.message());
  write_atomically(model.string(), make_encoder::encoder_model({}));
  return model.string();
}

}  // namespace

void demo(const DemoOptions& options) {
  CompiledGraph graph = compile_model({.model = demo_model()}, options.threads);
  const int threads = graph.threads();
  fmt::print(
      "MiniLM-shape encoder (6 layers, hidden 384), f32, {} thread{}, {}: {} kernels compiled in "
      "{:.0f} ms\n\n",
      threads, threads == 1 ? "" : "s", measure::peak_probe_isa(), graph.stats().kernels,
      graph.stats().milliseconds);
  fmt::print("{:>7} {:>5} {:>10} {:>10} {:>11} {:>14} {:>17}\n", "batch", "seq", "first ms", "ms",
             "GFLOP/s", "share of peak", "kernels compiled");
  int known_kernels = 0;
  for (const auto& [batch, seq] : kRequests) {
    Inputs inputs = plan_inputs(graph, {}, {{"batch", batch}, {"seq", seq}});
    fill_inputs(graph, {}, inputs);
    const double peak = measure::measure_peak_gflops(threads, 3, 10);
    const Timing timing = time_runs(graph, inputs, 0, 0.3);
    const double gflops = graph.flops_of_last_run() / (timing.median() * 1e6);
    const int kernels = graph.stats().kernels - known_kernels;
    known_kernels = graph.stats().kernels;
    fmt::print("{:>7} {:>5} {:>10.2f} {:>10.2f} {:>11.1f} {:>13.0f}% {:>17}\n", batch, seq,
               timing.first_ms, timing.median(), gflops,
               100 * gflops / std::max(peak, measure::measure_peak_gflops(threads, 3, 10)),
               kernels);
    std::fflush(stdout);
  }
  fmt::print(
      "\nShare of peak: the model's FLOPs over the multiply-adds that {} thread{} can do here.\n",
      threads, threads == 1 ? "" : "s");
}

}  // namespace tenon::cli
