// `tenon show`: what the compiler makes of a model, stage by stage, as text on stdout.
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "api/tuned.h"
#include "base/cpu_info.h"
#include "driver/pipeline.h"
#include "import/onnx/onnx.h"
#include "program/print.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"

namespace tenon::cli {
namespace {

// What --stage may ask for, and which stages of the compiler that is. Stages of bodies have the
// name of the body in front; whatever is no row is a pass over the graph.
struct Choice {
  std::string_view name, stage;
};
constexpr Choice kChoices[] = {{"graph", ""},
                               {"fusion", "fusion_report"},
                               {"dispatch", "dispatch_report"},
                               {"memory", "memory_map"},
                               {"lir", "lir"},
                               {"kernel", "kernel:"},
                               {"source", "source:"}};

std::string_view choice_of(std::string_view stage) {
  stage.remove_prefix(stage.rfind('/') + 1);  // npos + 1 is 0
  for (const Choice& choice : std::span(kChoices).subspan(1)) {
    if (stage == choice.stage || (choice.stage.ends_with(':') && stage.starts_with(choice.stage)))
      return choice.name;
  }
  return kChoices[0].name;
}

void check_stage(const std::string& stage) {
  std::vector<std::string_view> names;
  for (const Choice& choice : kChoices) names.push_back(choice.name);
  names.insert(names.end(), {"program", "all"});
  if (std::ranges::find(names, stage) == names.end())
    throw UsageError("stage '{}' is not known; there are: {}", stage, fmt::join(names, ", "));
}

}  // namespace

void show(const ShowOptions& options) {
  check_stage(options.stage);
  if (is_artifact(options.model)) return show_artifact(options);
  const Device device = parse_device(options.device);
  check_codegen(options.codegen, device);
  const graph::Graph graph = onnx::import_file(options.model);
  driver::Options compile{.name = options.model, .cpu = cpu_info(), .dump = {}};
  if (device.kind() == Device::Kind::Cuda) {
    compile.device = program::DeviceKind::Cuda;
    compile.cuda_arch = options.cuda_arch;
  }
  compile.codegen = options.codegen;
  compile.optimizer = parse_optimizer(options.optimizer);
  const CompileOptions tuning{.optimizer = compile.optimizer, .tuned = options.tuned};
  if (const auto tuner = tuning_of(tuning, compile)) tune::use_tuner(compile, *tuner);
  compile.dump = [&](std::string_view stage, const std::string& text) {
    if (options.stage == "all" || choice_of(stage) == options.stage)
      fmt::print("== {}\n{}\n", stage, text);
  };
  const driver::Compiled compiled = driver::compile(graph, compile);
  if (options.stage == "program") fmt::print("{}", program::print(compiled.program));
}

}  // namespace tenon::cli
