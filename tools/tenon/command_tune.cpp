// `tenon tune`: searches for schedules that are faster on this machine, kernel by kernel, compares
// the whole model with and without them, and writes a file of them. What was found is kept on disk
// as well, so that the command goes on where it was interrupted.
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <span>

#include "base/cpu_info.h"
#include "base/error.h"
#include "driver/backend.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"
#include "tools/tenon/inputs.h"
#include "tools/tenon/timing.h"
#include "tune/compile_helper.h"
#include "tune/record.h"

namespace tenon::cli {
namespace {

constexpr int kTurns = 15;
constexpr double kSecondsPerTurn = 0.1;

std::atomic<bool> interrupted = false;

// Ctrl-C asks the search to stop while it lives; a second one ends the process.
class Interrupt {
 public:
  Interrupt() {
    before_ = std::signal(SIGINT, [](int) {
      interrupted = true;
      std::signal(SIGINT, SIG_DFL);
    });
  }
  ~Interrupt() { std::signal(SIGINT, before_); }
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

 private:
  void (*before_)(int);
};

// On a terminal one line that changes; elsewhere a line for each kernel that is done.
class ProgressBar {
 public:
  bool show(const TuningProgress& now) {
    if (now.kernel != last_.kernel) finish_kernel();
    last_ = now;
    if (is_terminal_) fmt::print(stderr, "\r\033[K{} {}", bar(now), text(now));
    std::fflush(stderr);
    return !interrupted;
  }
  void finish() {
    finish_kernel();
    if (is_terminal_) fmt::print(stderr, "\r\033[K");
  }

 private:
  static std::string bar(const TuningProgress& now) {
    constexpr int kWidth = 24;
    const int done = kWidth * (now.kernel - 1) / now.kernels;
    return fmt::format("[{:#<{}}{:-<{}}]", "", done, "", kWidth - done);
  }
  static std::string text(const TuningProgress& now) {
    const std::string times = now.tried == 0 ? ""
                                             : fmt::format(", {} tried, {:.4f} ms, best {:.4f} ms",
                                                           now.tried, now.default_ms, now.best_ms);
    return fmt::format("kernel {} of {}: {}{}", now.kernel, now.kernels, now.name, times);
  }
  void finish_kernel() const {
    if (last_.kernel > 0 && !is_terminal_) fmt::print(stderr, "tenon: {}\n", text(last_));
  }

  const bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  TuningProgress last_;
};

std::string own_path() {
  char path[4096];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  return length > 0 ? std::string(path, static_cast<size_t>(length)) : std::string();
}

CompileOptions tuning_options(const TuneCommand& command) {
  CompileOptions options = compile_options(command);
  if (options.optimizer && options.optimizer->beam_width() == 0)
    throw UsageError("--optimizer {} searches nothing: `tenon tune` has --width",
                     to_string(*options.optimizer));
  if (is_artifact(command.model))
    throw UsageError("{} is compiled: its schedules were decided then", command.model);
  options.optimizer = OptStrategy::Beam{command.width};
  options.threads = command.threads;
  options.name = command.model;
  options.beam = BeamConfig{.timeout = command.timeout,
                            .typical = DimBinding(single_extents(command.dims, "tune")),
                            .helper = own_path()};
  return options;
}

CompileOptions by_model(const CompileOptions& options) {
  CompileOptions result = options;
  result.optimizer = OptStrategy::Analytic{};
  result.beam = std::nullopt;
  return result;
}

TuningReport search(const TuneCommand& command, CompileOptions options) {
  ProgressBar bar;
  const Interrupt interrupt;
  options.beam->progress = [&](const TuningProgress& now) { return bar.show(now); };
  TuningReport report = Session().tune_onnx(command.model, options);
  bar.finish();
  return report;
}

// As a later command will have it.
CompileOptions tuned_options(const TuneCommand& command, const CompileOptions& options) {
  if (command.output.empty()) return options;
  CompileOptions result = by_model(options);
  result.tuned = command.output;
  return result;
}

// Whether the model is, with what was found: by the median of turns.
bool is_faster(const TuneCommand& command, const CompileOptions& options,
               const TuningReport& report) {
  if (std::ranges::all_of(report.kernels, [](const auto& kernel) { return kernel.choice.empty(); }))
    return false;
  CompiledGraph plain = Session().compile_onnx(command.model, by_model(options));
  CompiledGraph tuned = Session().compile_onnx(command.model, tuned_options(command, options));
  Inputs inputs = plan_inputs(plain, {}, report.extents.values());
  fill_inputs(plain, {}, inputs);
  std::vector<double> defaults, ratios;
  for (int turn = 0; turn < kTurns; ++turn) {
    defaults.push_back(time_runs(plain, inputs, 0, kSecondsPerTurn).median());
    ratios.push_back(defaults.back() / time_runs(tuned, inputs, 0, kSecondsPerTurn).median());
  }
  std::ranges::sort(defaults);
  std::ranges::sort(ratios);
  const double ratio = ratios[kTurns / 2], default_ms = defaults[kTurns / 2];
  fmt::print("the model at {}: default {:.4f} ms, tuned {:.4f} ms, ratio {:.3f} ({:.3f}..{:.3f})\n",
             to_string(inputs.dims), default_ms, default_ms / ratio, ratio, ratios[kTurns / 5],
             ratios[kTurns - 1 - kTurns / 5]);
  return ratio >= 1 + options.beam->margin;
}

}  // namespace

int tune(const TuneCommand& command) {
  const CompileOptions options = tuning_options(command);
  if (command.output.empty() && !AotCache().usable())
    throw user_error("no folder to keep schedules in: set TENON_CACHE_DIR, or give --output");
  const TuningReport report = search(command, options);
  fmt::print("{}", report.to_string());
  if (report.stopped) {
    fmt::print(stderr,
               "tenon: interrupted: {} kernels are tuned and kept; the same command goes on\n",
               report.kernels.size());
    return 1;
  }
  if (!command.output.empty()) report.save(command.output);
  const bool faster = is_faster(command, options, report);
  if (!faster) {
    fmt::print("less than {:.0f}% faster: the default is kept\n", 100 * options.beam->margin);
    if (!command.output.empty())
      TuningReport{.schedules = tune::print(std::span<const tune::Record>())}.save(command.output);
  } else if (!command.output.empty()) {
    fmt::print("{}: to be given to --tuned\n", command.output);
  }
  return 0;
}

void compile_kernels(const CompileKernelsCommand& command) {
  const auto cap = command.cpu == "avx512" ? CpuIsa::Avx512 : CpuIsa::Avx2;
  const auto backend = driver::make_backend({.cpu = detect_cpu(cap), .codegen = command.codegen});
  tune::serve_compiles(*backend, STDIN_FILENO);
}

}  // namespace tenon::cli
