// The `tenon` program: reads the command line, calls a command, reports errors in one line. Exit
// codes: 0 done, 1 an error in the work, 2 a command line that makes no sense.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <type_traits>

#include "tenon/error.h"
#include "tenon/version.h"
#include "tools/tenon/arguments.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/precision.h"

namespace tenon::cli {
namespace {

constexpr const char* kVersion = "tenon " TENON_VERSION_STRING;
constexpr int kWorkFailed = 1, kBadUsage = 2;

// Unlike CLI::Range it says what is no number at all, and refuses NaN.
template <typename T>
CLI::Validator number(T least, T most) {
  const auto check = [=](const std::string& text) -> std::string {
    const std::optional<T> value = parse_number<T>(text);
    if (value && *value >= least && *value <= most) return "";
    const char* kind = std::is_integral_v<T> ? "whole number" : "number";
    return fmt::format("'{}' is not a {} from {} to {}", text, kind, least, most);
  };
  return {check, ""};
}

const CLI::Validator kCount = number(1, kMostCount);
const CLI::Validator kNotEmpty(
    [](const std::string& text) { return std::string(text.empty() ? "is empty" : ""); }, "");

struct CommandLine {
  CLI::App app{"Tenon compiles a model once and runs it at any shape.", "tenon"};
  CompileCommand compile;
  RunOptions run;
  BenchOptions bench;
  TuneCommand tune;
  CompileKernelsCommand compile_kernels;
  ShowOptions show;
  DemoOptions demo;
  BucketsOptions buckets;
  CacheOptions cache;
  OnnxTestOptions onnx_test;
  ReplayOptions replay;

  CommandLine() {
    app.set_version_flag("--version", kVersion);
    app.require_subcommand(1);
    add_compile();
    add_run();
    add_bench();
    add_tune();
    add_show();
    add_threads(app.add_subcommand("demo", "Compile an encoder and serve a dozen shapes"),
                demo.threads);
    app.add_subcommand("devices", "List the devices, and why those that cannot be used cannot");
    add_buckets();
    add_cache();
    add_onnx_test();
    add_replay();
  }

  static void add_threads(CLI::App* command, int& threads) {
    command->add_option("--threads", threads, "Threads to use (default: all)")
        ->check(kCount)
        ->type_name("COUNT");
  }

  static void add_model(CLI::App* command, std::string& model) {
    command->add_option("model", model, "An ONNX file, or what `tenon compile` made of one")
        ->required()
        ->check(kNotEmpty)
        ->type_name("MODEL.onnx");
  }

  static void add_model_options(CLI::App* command, ModelOptions& options, const char* dim_help) {
    add_model(command, options.model);
    command
        ->add_option("--input", options.inputs,
                     "NAME=FILE.npy or NAME=8x128:random[:LO..HI], :zeros, :ones; inputs not given "
                     "are filled")
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("NAME=VALUE");
    command->add_option("--dim", options.dims, dim_help)
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("NAME=EXTENT");
    add_compile_options(command, options);
  }

  // What decides the code of a model.
  static void add_compile_options(CLI::App* command, ModelOptions& options) {
    add_precision(command, options.precision);
    add_optimizer(command, options.optimizer);
    add_tuned(command, options.tuned);
    add_codegen(command, options.codegen);
    add_device(command, options.device);
  }

  static void add_tuned(CLI::App* command, std::string& tuned) {
    command
        ->add_option("--tuned", tuned,
                     "Schedules that `tenon tune` found: kernels and machines that the file names "
                     "take them")
        ->check(kNotEmpty)
        ->type_name("FILE");
  }

  static void add_precision(CLI::App* command, std::string& precision) {
    command->add_option("--precision", precision, kPrecisionHelp)
        ->check(kNotEmpty)
        ->type_name("MODE");
  }

  static void add_optimizer(CLI::App* command, std::string& optimizer) {
    command
        ->add_option("--optimizer", optimizer,
                     "How schedules of kernels are found: analytic (default); plain, the simplest "
                     "ones, to find out whether a schedule is at fault; beam or beam:WIDTH, by "
                     "timing them, or as `tenon tune` found them before (CPUs)")
        ->check(kNotEmpty)
        ->type_name("STRATEGY");
  }

  static void add_device(CLI::App* command, std::string& device) {
    command
        ->add_option("--device", device,
                     "cpu (default), cuda or cuda:1; `tenon devices` lists those there are")
        ->check(kNotEmpty)
        ->type_name("DEVICE");
  }

  static void add_codegen(CLI::App* command, std::string& codegen) {
    command
        ->add_option("--codegen", codegen,
                     "What generates machine code: llvm (default), or c, through the C compiler "
                     "that TENON_CC names")
        ->check(kNotEmpty)
        ->type_name("NAME");
  }

  void add_compile() {
    CLI::App* command =
        app.add_subcommand("compile", "Compile a model to a file that needs no compiler");
    add_model(command, compile.model);
    command->add_option("--output,-o", compile.output, "The file to write")
        ->required()
        ->check(kNotEmpty)
        ->type_name("FILE");
    command
        ->add_option("--cpu", compile.cpus,
                     "CPUs to compile for: avx2, avx512 or both, of what this one has (default: "
                     "all that it has)")
        ->check(kNotEmpty)
        ->type_name("ISA,...");
    command
        ->add_option("--cuda-arch", compile.cuda_archs,
                     "GPUs to compile for, which need not be there: compute capabilities, 80,90")
        ->check(kNotEmpty)
        ->type_name("ARCH,...");
    command
        ->add_option("--weights", compile.weights,
                     "inside (default), or beside: in FILE.weights, which must stay next to FILE")
        ->check(CLI::IsMember({"inside", "beside"}))
        ->type_name("PLACE");
    add_compile_options(command, compile);
  }

  void add_run() {
    CLI::App* command = app.add_subcommand("run", "Run a model once");
    add_model_options(command, run, "The extent of a symbolic dim: seq=128");
    add_threads(command, run.threads);
    command->add_flag(
        "--no-cache", run.no_cache,
        "Compile, even where the model was compiled before, and keep nothing on disk");
    command
        ->add_option("--output", run.output,
                     "Folder for the outputs, as NAME.npy (default: print a summary)")
        ->check(kNotEmpty)
        ->type_name("FOLDER");
    command
        ->add_option("--memory-limit", run.memory_limit,
                     "The most memory that the run may take beside inputs, outputs and weights")
        ->check(number<int64_t>(1, int64_t{1} << 60))
        ->type_name("BYTES");
  }

  void add_bench() {
    CLI::App* command = app.add_subcommand("bench", "Time a model at shapes and thread counts");
    add_model_options(command, bench, "Extents of a symbolic dim, each is measured: seq=16,128");
    command->add_option("--threads", bench.threads, "Thread counts: 1,2 (default: all)")
        ->check(kNotEmpty)
        ->type_name("COUNT,...");
    command
        ->add_option("--runs", bench.runs, "Timed runs per configuration (default: by --seconds)")
        ->check(kCount)
        ->type_name("COUNT");
    command->add_option("--seconds", bench.seconds, "Time per configuration (default: 1)")
        ->check(number(0.0, 3600.0))
        ->type_name("SECONDS");
    command
        ->add_option("--probe-ms", bench.probe_ms,
                     "Length of a slice of the probes (default: 20); 1000 for a gate")
        ->check(number(1.0, 10000.0))
        ->type_name("MS");
    command->add_flag("--receipts", bench.receipts,
                      "What each kernel computes, moves and takes, beside what this machine does "
                      "at best (CPUs)");
    add_required(command, "--require", bench.require,
                 "Exit code 1 where a run reaches less than this of what the machine does at best: "
                 "80%");
    add_required(command, "--require-kernel", bench.require_kernel,
                 "Likewise of each kernel that takes 2% of the run or more");
    command->add_flag("--json", bench.json, "A JSON line per configuration");
  }

  void add_tune() {
    CLI::App* command = app.add_subcommand(
        "tune", "Search for schedules of a model's kernels that are faster on this machine");
    add_model(command, tune.model);
    command
        ->add_option("--dim", tune.dims,
                     "The extent of a symbolic dim to time at: seq=128 (default: the middle of its "
                     "bounds, less where tensors would be large)")
        ->take_all()
        ->allow_extra_args(false)
        ->type_name("NAME=EXTENT");
    command
        ->add_option("--width", tune.width,
                     "How many of the fastest schedules are looked at further (default: 4)")
        ->check(number(1, 64))
        ->type_name("COUNT");
    command
        ->add_option("--timeout", tune.timeout,
                     "The longest that the search for one kernel may take (default: 60)")
        ->check(number(0.01, 86400.0))
        ->type_name("SECONDS");
    add_threads(command, tune.threads);
    command
        ->add_option("--output,-o", tune.output, "The file to write the schedules to, for --tuned")
        ->check(kNotEmpty)
        ->type_name("FILE");
    add_precision(command, tune.precision);
    add_codegen(command, tune.codegen);
    // What `tune` runs to compile candidates.
    CLI::App* helper = app.add_subcommand("compile-kernels", "")->group("");
    helper->add_option("--codegen", compile_kernels.codegen);
    helper->add_option("--cpu", compile_kernels.cpu);
  }

  // A percentage, with or without its sign.
  static void add_required(CLI::App* command, const char* name, double& percent, const char* help) {
    command->add_option(name, percent, help)
        ->transform([](const std::string& text) {
          return text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
        })
        ->check(number(0.0, 100.0))
        ->type_name("PERCENT");
  }

  void add_show() {
    CLI::App* command = app.add_subcommand(
        "show", "Print what the compiler makes of a model, or what a compiled one has");
    add_model(command, show.model);
    command
        ->add_option("--stage", show.stage,
                     "graph (default: every pass over it), fusion, dispatch, lir, memory, kernel, "
                     "source, program, or all but the last")
        ->type_name("STAGE");
    add_optimizer(command, show.optimizer);
    add_tuned(command, show.tuned);
    add_codegen(command, show.codegen);
    add_device(command, show.device);
    command
        ->add_option("--cuda-arch", show.cuda_arch,
                     "With --device cuda: the compute capability to compile for (default: 90); no "
                     "GPU is needed")
        ->check(number(80, 999))
        ->type_name("ARCH");
  }

  void add_buckets() {
    CLI::App* command =
        app.add_subcommand("buckets", "Plan buckets of extents with the least padded work");
    command
        ->add_option("--shapes", buckets.shapes,
                     "What was asked for: a line for each extent, `EXTENT [REQUESTS]`")
        ->required()
        ->check(kNotEmpty)
        ->type_name("FILE");
    command->add_option("--count", buckets.count, "The most buckets")
        ->required()
        ->check(kCount)
        ->type_name("COUNT");
    command
        ->add_option("--quadratic", buckets.quadratic,
                     "B of the work u + B*u*u at extent u, for models with attention (default: 0)")
        ->check(number(0.0, 1e9))
        ->type_name("B");
  }

  void add_cache() {
    CLI::App* command =
        app.add_subcommand("cache", "Look at what is kept on disk of models compiled before");
    command->require_subcommand(1);
    const auto add = [&](const char* name, const char* help) {
      CLI::App* action = command->add_subcommand(name, help);
      action
          ->add_option("--dir", cache.folder,
                       "The cache's folder (default: TENON_CACHE_DIR, or tenon in $XDG_CACHE_HOME "
                       "or ~/.cache)")
          ->check(kNotEmpty)
          ->type_name("FOLDER");
      action->callback([this, name] { cache.action = name; });
      return action;
    };
    add("ls", "List the entries, the last used first");
    CLI::App* why = add("why", "Say whether `tenon run` would find a model, or what differs");
    add_model(why, cache.model);
    add_compile_options(why, cache);
    add("verify", "Read every entry whole; exit code 1 where one is damaged")
        ->add_flag("--remove", cache.remove, "Remove those that are damaged");
    add("clear", "Remove all entries");
  }

  void add_onnx_test() {
    CLI::App* command =
        app.add_subcommand("onnx-test", "Run cases in the ONNX backend test format");
    command->add_option("folders", onnx_test.folders, "Cases, or folders of cases")
        ->required()
        ->type_name("DIR");
    command
        ->add_option("--device", onnx_test.device,
                     "interpreter (default), cpu, cuda, cuda:1; artifact (the CPU, saved and "
                     "loaded); emulated-gpu (GPU schedules on the "
                     "interpreter of the "
                     "loop IR); cubins:80, cubins:90 (compiled only, interpreted)")
        ->type_name("DEVICE");
    add_codegen(command, onnx_test.codegen);
    command
        ->add_option(
            "--sample", onnx_test.sample,
            "Only part N of M of the cases, chosen by their names: 1/10 is always the same "
            "tenth")
        ->check(kNotEmpty)
        ->type_name("N/M");
    command->add_option("--skip", onnx_test.skip, "Cases not expected to pass: name and reason")
        ->check(kNotEmpty)
        ->type_name("FILE");
    command->add_flag("--verbose", onnx_test.verbose, "A line for every case");
    CLI::Option* symbolic = command->add_flag(
        "--symbolic", onnx_test.symbolic,
        "Every extent of the inputs is a symbol: compile once, run at two sets of extents");
    command
        ->add_option("--at-least", onnx_test.least_symbolic,
                     "With --symbolic: fail where fewer of the cases are fully symbolic")
        ->needs(symbolic)
        ->check(number(0.0, 100.0))
        ->type_name("PERCENT");
  }

  void add_replay() {
    CLI::App* command =
        app.add_subcommand("replay", "Run a saved graph on a device and on the interpreter");
    command->add_option("file", replay.file, "A graph that differential testing saved")
        ->required()
        ->check(kNotEmpty)
        ->type_name("FILE");
    command->add_option("--device", replay.device, "cpu (default)")->type_name("DEVICE");
  }
};

std::string commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) {
    if (!command->get_group().empty()) names.push_back(command->get_name());
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

// What could have been written where something unknown was.
std::string choices(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  if (parsed.empty()) return "commands: " + commands_of(app);
  std::vector<std::string> names;
  for (const CLI::Option* option : parsed[0]->get_options()) {
    if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames()[0]);
  }
  return fmt::format("options of `tenon {}`: {}", parsed[0]->get_name(), fmt::join(names, ", "));
}

std::string usage_message(const CLI::App& app, const CLI::ParseError& error,
                          const char* first_argument) {
  const auto parsed = app.get_subcommands();
  if (parsed.empty()) {
    if (!first_argument) return "a command is needed; " + choices(app);
    const char* kind = first_argument[0] == '-' ? "option" : "command";
    return fmt::format("unknown {} '{}'; {}", kind, first_argument, choices(app));
  }
  const CLI::App& command = *parsed[0];
  if (!command.get_subcommands(nullptr).empty() && command.get_subcommands().empty())
    return fmt::format("`tenon {}` needs one of: {}", command.get_name(), commands_of(command));
  if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError)) {
    return fmt::format("not understood: {}; {}", fmt::join(app.remaining(true), " "), choices(app));
  }
  return fmt::format("{}; see `tenon {} --help`", error.what(), parsed[0]->get_name());
}

int report_usage(const CLI::App& app, const CLI::ParseError& error, const char* first_argument) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  fmt::print(stderr, "tenon: error: {}\n", usage_message(app, error, first_argument));
  return kBadUsage;
}

int call(const CommandLine& line) {
  const std::string name = line.app.get_subcommands()[0]->get_name();
  int exit_code = 0;
  if (name == "compile") compile(line.compile);
  if (name == "run") run(line.run);
  if (name == "bench") exit_code = bench(line.bench);
  if (name == "tune") exit_code = tune(line.tune);
  if (name == "compile-kernels") compile_kernels(line.compile_kernels);
  if (name == "show") show(line.show);
  if (name == "demo") demo(line.demo);
  if (name == "devices") devices();
  if (name == "buckets") buckets(line.buckets);
  if (name == "cache") exit_code = cache(line.cache);
  if (name == "onnx-test") exit_code = onnx_test(line.onnx_test);
  if (name == "replay") exit_code = replay(line.replay);
  if (std::fflush(stdout) != 0 || std::ferror(stdout))
    throw Error(ErrorKind::User, "standard output cannot be written");
  return exit_code;
}

int parse_and_call(int argc, char** argv) {
  CommandLine line;
  try {
    line.app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return report_usage(line.app, error, argc > 1 ? argv[1] : nullptr);
  }
  return call(line);
}

}  // namespace
}  // namespace tenon::cli

int main(int argc, char** argv) {
  try {
    return tenon::cli::parse_and_call(argc, argv);
  } catch (const std::bad_alloc&) {
    std::fputs("tenon: error: out of memory\n", stderr);
    return tenon::cli::kWorkFailed;
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "tenon: error: %s\n", error.what());
    const bool usage = dynamic_cast<const tenon::cli::UsageError*>(&error) != nullptr;
    return usage ? tenon::cli::kBadUsage : tenon::cli::kWorkFailed;
  }
}
