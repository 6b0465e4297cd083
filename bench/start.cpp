// How long a process takes from its start to its first result: an encoder in an ONNX file, mapped,
// whose code is compiled (cold), found in the disk cache (warm), or in an artifact. By the clock of
// the parent process, which writes the files before, so that they are in the page cache.
//
//   bench_start [cold|warm|artifact ...]
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <span>
#include <stdexcept>
#include <vector>

#include "bench/program.h"
#include "bench/report.h"
#include "codegen/llvm/generate.h"
#include "tenon/tenon.h"
#include "tools/make_encoder/encoder_model.h"

namespace tenon::bench {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr int64_t kSeq = 16;
constexpr int kRounds = 21;
constexpr double kGate = 100;  // ms

double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// What a child tells when it has its result.
struct Answer {
  double ready_ms = 0, run_ms = 0;  // from main to a graph that can run; its first run
  float first = 0;
  bool from_disk = false, llvm = false;
};

CompiledGraph open(const std::string& how, const std::string& model, const std::string& folder) {
  if (how == "artifact") return CompiledGraph::load(folder + "/model.tenon");
  return AotCache(folder).compile_onnx(model);
}

int child(const std::string& how, const std::string& model, const std::string& folder) {
  const auto begin = Clock::now();
  CompiledGraph graph = open(how, model, folder);
  Answer answer{.ready_ms = milliseconds_since(begin)};
  const std::vector<int64_t> ids(kSeq, 101), ones(kSeq, 1), zeros(kSeq, 0);
  const auto ran = Clock::now();
  const auto outputs = graph.run_typed({{"input_ids", view(ids, {1, kSeq})},
                                        {"attention_mask", view(ones, {1, kSeq})},
                                        {"token_type_ids", view(zeros, {1, kSeq})}});
  answer.run_ms = milliseconds_since(ran);
  answer.first = outputs[0].as<float>()[0];
  answer.from_disk = graph.stats().from_disk;
  answer.llvm = codegen::llvm_is_started();
  return write(STDOUT_FILENO, &answer, sizeof(answer)) == sizeof(answer) ? 0 : 1;
}

struct Start {
  double milliseconds = 0;  // from the start of the process to its answer
  Answer answer;
};

Start start(const std::string& how, const std::string& model, const std::string& folder) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::array<std::string, 5> words = {"bench_start", "child", how, model, folder};
  std::array<char*, 6> arguments{};
  for (size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  pid_t process = 0;
  Start result;
  const auto begin = Clock::now();
  if (posix_spawn(&process, "/proc/self/exe", &actions, nullptr, arguments.data(), environ) != 0)
    throw std::runtime_error("no process");
  close(ends[1]);
  const bool told = read(ends[0], &result.answer, sizeof(Answer)) == sizeof(Answer);
  result.milliseconds = milliseconds_since(begin);
  close(ends[0]);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  waitpid(process, &status, 0);
  if (!told || status != 0) throw std::runtime_error("the child has no result");
  return result;
}

// A folder with the model, gone at the end.
class Files {
 public:
  Files() : folder_(fs::temp_directory_path() / fmt::format("tenon_start_{}", getpid())) {
    fs::create_directories(folder_);
    std::ofstream(model(), std::ios::binary) << make_encoder::encoder_model({});
  }
  ~Files() { fs::remove_all(folder_); }
  std::string model() const { return folder_ / "encoder.onnx"; }
  std::string cache() const { return folder_ / "cache"; }

 private:
  fs::path folder_;
};

bool measure_starts(const std::string& how, double gate) {
  const Files files;
  const float expected = start("compile", files.model(), files.cache()).answer.first;
  if (how == "artifact") Session().compile_onnx(files.model()).save(files.cache() + "/model.tenon");
  std::vector<double> times, ready, runs;
  bool llvm = false;
  for (int round = 0; round < kRounds; ++round) {
    if (how == "cold") fs::remove_all(files.cache());
    const Start each = start(how, files.model(), files.cache());
    if (each.answer.first != expected) throw std::runtime_error("another result");
    if (each.answer.from_disk != (how == "warm")) throw std::runtime_error("not as it should");
    times.push_back(each.milliseconds);
    ready.push_back(each.answer.ready_ms);
    runs.push_back(each.answer.run_ms);
    llvm = llvm || each.answer.llvm;
  }
  const bool fast =
      report("process start to first result, " + how, "ms", median(times), gate,
             fmt::format(", \"lowest\": {:.3f}, \"ready_ms\": {:.3f}, \"first_run_ms\": {:.3f}, "
                         "\"llvm_started\": {}, \"model_bytes\": {}, \"rounds\": {}",
                         std::ranges::min(times), median(ready), median(runs), llvm,
                         fs::file_size(files.model()), kRounds));
  return fast && (how == "cold" || !llvm);
}

constexpr double kNoGate = 1e9;
bool cold() { return measure_starts("cold", kNoGate); }
bool warm() { return measure_starts("warm", kGate); }
bool artifact() { return measure_starts("artifact", kNoGate); }  // its weights are verified

constexpr Figure kFigures[] = {{"cold", cold}, {"warm", warm}, {"artifact", artifact}};

bool run(std::span<char* const> names) {
  if (names.size() == 4 && std::string_view(names[0]) == "child")
    std::_Exit(child(names[1], names[2], names[3]));
  return measure(kFigures, names);
}

}  // namespace
}  // namespace tenon::bench

int main(int argc, char** argv) {
  return tenon::bench::program("bench_start", tenon::bench::run, argc, argv);
}
