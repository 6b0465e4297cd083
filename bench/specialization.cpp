// What extents as arguments cost: the encoder at 20 shapes, by code for any shape (symbolic), by
// the same plan with code for the shape (specialized), and compiled for the shape alone (exact).
// Interleaved, by the clock; medians per shape, and their geometric mean.
//
//   bench_specialization [1|2 ...]      threads; default: both
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "base/background_worker.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon::bench {
namespace {

struct Extents {
  int64_t batch, seq;
};
constexpr Extents kShapes[] = {{1, 1},   {1, 5},   {1, 16}, {1, 33}, {1, 64}, {1, 100}, {1, 128},
                               {1, 200}, {1, 256}, {2, 3},  {2, 17}, {2, 90}, {3, 48},  {3, 128},
                               {4, 7},   {4, 64},  {5, 31}, {6, 20}, {8, 13}, {8, 128}};
constexpr int kRounds = 15;
constexpr double kSecondsPerRound = 0.02;  // of each, about; one run where that is longer

class EncoderFile {
 public:
  EncoderFile() { std::ofstream(path_, std::ios::binary) << make_encoder::encoder_model({}); }
  ~EncoderFile() { std::filesystem::remove(path_); }  // it stays mapped
  EncoderFile(const EncoderFile&) = delete;
  EncoderFile& operator=(const EncoderFile&) = delete;

  CompiledGraph compile(const CompileOptions& options) const {
    return Session().compile_onnx(path_, options);
  }

 private:
  const std::filesystem::path path_ = std::filesystem::temp_directory_path() /
                                      fmt::format("tenon_bench_specialization_{}.onnx", getpid());
};

class Request {
 public:
  explicit Request(const Extents& extents)
      : ids_(static_cast<size_t>(extents.batch * extents.seq), 7),
        ones_(ids_.size(), 1),
        zeros_(ids_.size(), 0) {
    const std::vector<int64_t> shape = {extents.batch, extents.seq};
    inputs_ = {{"input_ids", view(ids_, shape)},
               {"attention_mask", view(ones_, shape)},
               {"token_type_ids", view(zeros_, shape)}};
  }
  void run(CompiledGraph& graph) const { graph.run_raw(inputs_); }
  double seconds(CompiledGraph& graph, int runs) const {
    const auto start = Clock::now();
    for (int i = 0; i < runs; ++i) run(graph);
    return seconds_since(start) / runs;
  }

 private:
  std::vector<int64_t> ids_, ones_, zeros_;
  NamedInputs inputs_;
};

constexpr int kWays = 3;  // symbolic, specialized, exact
struct Measured {
  std::array<double, kWays> seconds;
  std::array<double, kWays>
      to_exact;  // ratios of neighbours: what else the machine does is in both
};

// Each round has every way once, and begins with another.
Measured measure(const Request& request, std::array<CompiledGraph*, kWays> graphs) {
  for (CompiledGraph* graph : graphs) request.run(*graph);
  const int runs = std::max(1, static_cast<int>(kSecondsPerRound / request.seconds(*graphs[0], 1)));
  std::array<std::vector<double>, kWays> times, ratios;
  for (int round = 0; round < kRounds; ++round) {
    for (int turn = 0; turn < kWays; ++turn) {
      const auto way = static_cast<size_t>((round + turn) % kWays);
      times[way].push_back(request.seconds(*graphs[way], runs));
    }
    for (size_t way = 0; way < kWays; ++way)
      ratios[way].push_back(times[way].back() / times[kWays - 1].back());
  }
  Measured result{};
  for (size_t way = 0; way < kWays; ++way) {
    result.seconds[way] = median(times[way]);
    result.to_exact[way] = median(ratios[way]);
  }
  return result;
}

bool run_at(int threads) {
  const EncoderFile file;
  CompiledGraph symbolic = file.compile({.threads = threads, .specialize = {{.most = 0}}});
  CompiledGraph special =
      file.compile({.threads = threads, .specialize = {{.after = 1, .most = std::size(kShapes)}}});
  double of_symbolic = 0, of_special = 0;
  for (const Extents& extents : kShapes) {
    const Request request(extents);
    request.run(special);
    special.wait_for_specialization();
    CompiledGraph exact = file.compile(
        {.threads = threads, .dim_binding = DimBinding::batch_seq(extents.batch, extents.seq)});
    const auto [seconds, to_exact] = measure(request, {&symbolic, &special, &exact});
    of_symbolic += std::log(to_exact[0]), of_special += std::log(to_exact[1]);
    fmt::print(
        "{{\"bench\": \"encoder at a shape\", \"batch\": {}, \"seq\": {}, \"threads\": {}, "
        "\"symbolic_ms\": {:.3f}, \"specialized_ms\": {:.3f}, \"exact_ms\": {:.3f}, "
        "\"symbolic_to_exact\": {:.3f}, \"specialized_to_exact\": {:.3f}}}\n",
        extents.batch, extents.seq, threads, seconds[0] * 1e3, seconds[1] * 1e3, seconds[2] * 1e3,
        to_exact[0], to_exact[1]);
    std::fflush(stdout);
  }
  const SpecializationStats stats = special.specialization_stats();
  const auto geomean = [](double logs) { return std::exp(logs / std::size(kShapes)); };
  return report(
      "symbolic kernels against exact ones", "ratio", geomean(of_symbolic), 1.03,
      fmt::format(", \"threads\": {}, \"specialized_ratio\": {:.3f}, "
                  "\"special_shapes\": {}, \"special_kernels\": {}, "
                  "\"special_cpu_ms\": {:.0f}",
                  threads, geomean(of_special), stats.shapes, stats.kernels, stats.milliseconds));
}

bool run(std::span<char* const> names) {
  if (names.empty()) return run_at(1) & run_at(2);
  bool met = true;
  for (const char* name : names) met &= run_at(std::atoi(name));
  return met;
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_specialization", tenon::bench::run, argc, argv);
}
