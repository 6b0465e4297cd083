// `tenon show`: what the compiler makes of a model, stage by stage, as text on stdout.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "base/cpu_info.h"
#include "driver/pipeline.h"
#include "import/onnx/onnx.h"
#include "program/print.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"

namespace tenon::cli {
namespace {

constexpr std::string_view kStages[] = {"graph", "kernel", "source", "program"};

std::string_view stage_of(std::string_view pass) {
  if (pass.starts_with("kernel:")) return "kernel";
  if (pass.starts_with("source:")) return "source";
  return "graph";
}

}  // namespace

void show(const ShowOptions& options) {
  if (std::find(std::begin(kStages), std::end(kStages), options.stage) == std::end(kStages)) {
    throw UsageError("stage '{}' is not known; there are: graph, kernel, source, program",
                     options.stage);
  }
  const Device device = parse_device(options.device);
  check_codegen(options.codegen, device);
  const graph::Graph graph = onnx::import_file(options.model);
  if (options.stage == "graph") fmt::print("== import\n{}\n", graph::print(graph));
  driver::Options compile;
  compile.cpu = cpu_info();
  if (device.kind() == Device::Kind::Cuda) {
    compile.device = program::DeviceKind::Cuda;
    compile.cuda_arch = options.cuda_arch;
  }
  compile.codegen = options.codegen;
  compile.dump = [&](std::string_view pass, const std::string& text) {
    if (stage_of(pass) == options.stage) fmt::print("== {}\n{}\n", pass, text);
  };
  const driver::Compiled compiled = driver::compile(graph, compile);
  if (options.stage == "program") fmt::print("{}", program::print(compiled.program));
}

}  // namespace tenon::cli
