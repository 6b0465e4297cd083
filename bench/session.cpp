// What a session costs: a call of run_slots beyond its kernel, planning of very many buffers, the
// arena against what is alive at once, the memory of a process that runs an encoder, and that of
// the weights of one in several buckets.
//
//   bench_session [slots|planner|arena|memory|buckets ...]
//
// `memory` looks at the whole process: for a figure of its own, run it alone.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "bench/program.h"
#include "bench/report.h"
#include "bench/subject.h"
#include "driver/pipeline.h"
#include "import/onnx/onnx.h"
#include "plan/liveness.h"
#include "plan/plan_arena.h"
#include "runtime/weight_pool.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon::bench {
namespace {

constexpr int64_t kBatch = 8, kSeq = 128;

// A kernel that does nearly nothing: what a call takes is what it costs to get there.
bool slots() {
  constexpr int kCalls = 20000, kRounds = 21;
  Graph g;
  g.set_outputs({{"y", g.relu(g.input("x", {{sym::batch(), 16}, DType::F32}))}});
  CompiledGraph compiled = Session().compile(g, {.threads = 1});
  compiled.set_extents({{"batch", 1}});
  const std::vector<float> x(16, 1);
  const std::vector<std::span<const std::byte>> inputs = {std::as_bytes(std::span(x))};
  std::vector<double> times;
  for (int round = 0; round < kRounds; ++round) {
    const auto start = Clock::now();
    for (int i = 0; i < kCalls; ++i) compiled.run_slots(inputs);
    times.push_back(seconds_since(start) / kCalls * 1e6);
  }
  return report("run_slots", "us_with_kernel", median(times), 1,
                fmt::format(", \"lowest\": {:.3f}", std::ranges::min(times)));
}

// Each step reads two of the 64 buffers before its own and writes one of 32 symbolic sizes.
program::Program many_buffers(int count) {
  const Dim batch = sym::batch(), seq = sym::seq();
  program::Program program;
  program.symbols = {*batch.as_symbol(), *seq.as_symbol()};
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    const Dim width = 64 * (1 + static_cast<int64_t>(random() % 16));
    program.arena.push_back({random() % 2 ? batch * seq * width : batch * width});
    program::Step step;
    for (int read = 0; read < 2 && i > 0; ++read) {
      const int back = 1 + static_cast<int>(random() % 64);
      step.buffers.push_back({program::BufferKind::Arena, std::max(0, i - back)});
      step.writes.push_back(false);
    }
    step.buffers.push_back({program::BufferKind::Arena, i});
    step.writes.push_back(true);
    program.steps.push_back(std::move(step));
  }
  return program;
}

bool planner() {
  constexpr int kBuffers = 20000;
  std::vector<double> times;
  for (int round = 0; round < 5; ++round) {
    program::Program program = many_buffers(kBuffers);
    const auto start = Clock::now();
    plan::plan_arena(program);
    times.push_back(seconds_since(start));
  }
  return report("planner of 20000 buffers", "seconds", median(times), 1);
}

int64_t at_extents(const Dim& dim) {
  const std::map<std::string, int64_t> extents = {{"batch", kBatch}, {"seq", kSeq}};
  return dim
      .evaluate(
          [&](const Symbol& symbol) -> std::optional<int64_t> { return extents.at(symbol.name()); })
      .value();
}

// From lives and sizes alone, not from where the plan put the buffers.
int64_t most_alive(const program::Program& program) {
  const std::vector<plan::Moment> moments = plan::timeline(program);
  const std::vector<plan::Life> lives = plan::arena_lives(program, moments);
  std::vector<int64_t> alive(moments.size(), 0);
  for (size_t i = 0; i < lives.size(); ++i) {
    if (!lives[i].used()) continue;
    for (int at = lives[i].begin; at <= lives[i].end; ++at)
      alive[static_cast<size_t>(at)] += at_extents(program.arena[i].bytes);
  }
  return std::ranges::max(alive);
}

bool arena() {
  auto model = std::make_shared<const std::string>(make_encoder::encoder_model({}));
  const graph::Graph graph = onnx::import_bytes(std::as_bytes(std::span(*model)), model, "encoder");
  const program::Program program = driver::compile(graph, {.cpu = cpu_info()}).program;
  const auto bytes = static_cast<double>(at_extents(program.plan.bytes));
  const auto alive = static_cast<double>(most_alive(program));
  return report(
      "arena of the encoder", "times_alive", bytes / alive, 1.1,
      fmt::format(", \"arena_mb\": {:.2f}, \"alive_mb\": {:.2f}", bytes / 1e6, alive / 1e6));
}

double anonymous_mb() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("RssAnon:")) return std::stod(line.substr(8)) * 1024 / 1e6;
  }
  throw user_error("/proc/self/status has no RssAnon");
}

class EncoderFile {
 public:
  EncoderFile() { std::ofstream(path_, std::ios::binary) << make_encoder::encoder_model({}); }
  ~EncoderFile() { std::filesystem::remove(path_); }  // it stays mapped
  EncoderFile(const EncoderFile&) = delete;
  EncoderFile& operator=(const EncoderFile&) = delete;

  CompiledGraph compile(const DimBinding& extents = {}) const {
    return Session().compile_onnx(path_, {.dim_binding = extents});
  }

 private:
  const std::filesystem::path path_ =
      std::filesystem::temp_directory_path() / fmt::format("tenon_bench_session_{}.onnx", getpid());
};

void run_encoder(CompiledGraph& encoder, int64_t batch, int64_t seq) {
  const auto count = static_cast<size_t>(batch * seq);
  const std::vector<int64_t> ids(count, 7), ones(count, 1), zeros(count), shape = {batch, seq};
  encoder.run_raw({{"input_ids", view(ids, shape)},
                   {"attention_mask", view(ones, shape)},
                   {"token_type_ids", view(zeros, shape)}});
}

bool memory() {
  CompiledGraph encoder = EncoderFile().compile();
  for (int i = 0; i < 10; ++i) run_encoder(encoder, kBatch, kSeq);
  const double weights = static_cast<double>(encoder.stats().weight_bytes) / 1e6;
  const double arena = static_cast<double>(encoder.arena_bytes()) / 1e6;
  return report(
      "anonymous memory of a process with the encoder", "mb", anonymous_mb(), weights + arena + 40,
      fmt::format(", \"weights_mb\": {:.1f}, \"packed_mb\": {:.1f}, \"arena_mb\": {:.1f}", weights,
                  static_cast<double>(encoder.stats().packed_bytes) / 1e6, arena));
}

// What graphs for six lengths hold of weights, against what one does.
bool buckets() {
  const EncoderFile file;
  std::vector<CompiledGraph> graphs;
  double of_one = 0, anonymous_of_one = 0;
  for (const int64_t seq : {8, 16, 32, 64, 128, 256}) {
    graphs.push_back(file.compile({{"batch", 1}, {"seq", seq}}));
    run_encoder(graphs.back(), 1, seq);
    if (graphs.size() > 1) continue;
    of_one = static_cast<double>(runtime::bytes_of_all_weights());
    anonymous_of_one = anonymous_mb();
  }
  const auto of_all = static_cast<double>(runtime::bytes_of_all_weights());
  return report(
      "weights of the encoder in 6 buckets", "ratio", of_all / of_one, 1.05,
      fmt::format(", \"one_mb\": {:.2f}, \"all_mb\": {:.2f}, \"anonymous_one_mb\": {:.1f}, "
                  "\"anonymous_all_mb\": {:.1f}",
                  of_one / 1e6, of_all / 1e6, anonymous_of_one, anonymous_mb()));
}

constexpr Figure kFigures[] = {{"memory", memory},
                               {"buckets", buckets},
                               {"slots", slots},
                               {"planner", planner},
                               {"arena", arena}};

bool run(std::span<char* const> names) { return measure(kFigures, names); }

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_session", tenon::bench::run, argc, argv);
}
