// The `tenon` program: reads the command line, calls a command, reports errors in one line. Exit
// codes: 0 done, 1 an error in the work, 2 a command line that makes no sense.
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "tenon/error.h"
#include "tools/tenon/commands.h"

namespace tenon::cli {
namespace {

constexpr const char* kVersion = "tenon " TENON_VERSION;
constexpr int kWorkFailed = 1, kBadUsage = 2;
const CLI::Range kCount(1, 1 << 20);

struct CommandLine {
  CLI::App app{"Tenon compiles a model once and runs it at any shape.", "tenon"};
  RunOptions run;
  BenchOptions bench;
  ShowOptions show;
  DemoOptions demo;

  CommandLine() {
    app.set_version_flag("--version", kVersion);
    app.require_subcommand(1);
    add_run();
    add_bench();
    add_show();
    CLI::App* command = app.add_subcommand("demo", "Compile an encoder and serve a dozen shapes");
    command->add_option("--threads", demo.threads, "Threads to use (default: all)")->check(kCount);
  }

  static void add_model_options(CLI::App* command, ModelOptions& options, const char* dim_help) {
    command->add_option("model", options.model, "An ONNX file")
        ->required()
        ->type_name("MODEL.onnx");
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
    command->add_option("--precision", options.precision, "How to compute: f32")->type_name("TYPE");
  }

  void add_run() {
    CLI::App* command = app.add_subcommand("run", "Run a model once");
    add_model_options(command, run, "The extent of a symbolic dim: seq=128");
    command->add_option("--threads", run.threads, "Threads to use (default: all)")->check(kCount);
    command->add_option("--output", run.output,
                        "Folder for the outputs, as NAME.npy (default: print a summary)");
  }

  void add_bench() {
    CLI::App* command = app.add_subcommand("bench", "Time a model at shapes and thread counts");
    add_model_options(command, bench, "Extents of a symbolic dim, each is measured: seq=16,128");
    command->add_option("--threads", bench.threads, "Thread counts: 1,2 (default: all)")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(kCount);
    command
        ->add_option("--runs", bench.runs, "Timed runs per configuration (default: by --seconds)")
        ->check(kCount);
    command->add_option("--seconds", bench.seconds, "Time per configuration")
        ->check(CLI::Range(0.0, 3600.0));
    command
        ->add_option("--probe-ms", bench.probe_ms,
                     "Length of a slice of the peak probe; 1000 for a gate")
        ->check(CLI::Range(1.0, 10000.0));
    command->add_flag("--json", bench.json, "A JSON line per configuration");
  }

  void add_show() {
    CLI::App* command = app.add_subcommand("show", "Print what the compiler makes of a model");
    command->add_option("model", show.model, "An ONNX file")->required()->type_name("MODEL.onnx");
    command->add_option("--stage", show.stage, "graph, kernel, source or program")
        ->type_name("STAGE");
  }
};

// What could have been written where something unknown was.
std::string choices(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  std::vector<std::string> names;
  if (parsed.empty()) {
    for (const CLI::App* command : app.get_subcommands(nullptr))
      names.push_back(command->get_name());
    return fmt::format("commands: {}", fmt::join(names, ", "));
  }
  for (const CLI::Option* option : parsed[0]->get_options()) {
    if (!option->get_lnames().empty()) names.push_back("--" + option->get_lnames()[0]);
  }
  return fmt::format("options of `tenon {}`: {}", parsed[0]->get_name(), fmt::join(names, ", "));
}

int report_usage(const CLI::App& app, const CLI::ParseError& error, const char* first_argument) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  std::string message = error.what();
  if (app.get_subcommands().empty() && first_argument && first_argument[0] != '-') {
    message = fmt::format("unknown command '{}'", first_argument);
  }
  while (!message.empty() && message.back() == '\n') message.pop_back();
  fmt::print(stderr, "tenon: error: {}; {}\n", message, choices(app));
  return kBadUsage;
}

int call(const CommandLine& line) {
  const std::string name = line.app.get_subcommands()[0]->get_name();
  if (name == "run") run(line.run);
  if (name == "bench") bench(line.bench);
  if (name == "show") show(line.show);
  if (name == "demo") demo(line.demo);
  if (std::fflush(stdout) != 0) throw Error(ErrorKind::User, "standard output cannot be written");
  return 0;
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
  } catch (const std::exception& error) {
    std::fflush(stdout);
    std::fprintf(stderr, "tenon: error: %s\n", error.what());
    const bool usage = dynamic_cast<const tenon::cli::UsageError*>(&error) != nullptr;
    return usage ? tenon::cli::kBadUsage : tenon::cli::kWorkFailed;
  }
}
