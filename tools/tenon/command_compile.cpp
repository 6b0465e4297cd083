// tenon compile: a model file -> an artifact for one device or several, which run and bench take in
// its place.
#include <algorithm>
#include <filesystem>

#include "base/cpu_info.h"
#include "tools/tenon/arguments.h"
#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"

namespace tenon::cli {
namespace {

struct Target {
  std::string name;  // for people
  CompileOptions options;
};

CompileOptions for_cpu(CompileOptions options, const std::string& cpu) {
  if (cpu == to_string(CpuIsa::Avx512) && detect_cpu({}).isa < CpuIsa::Avx512)
    throw Error(ErrorKind::User, "--cpu avx512: this CPU has no AVX-512");
  options.device = Device::Cpu();
  options.cpu = cpu;
  return options;
}

CompileOptions for_gpu(CompileOptions options, int arch) {
  options.device = Device::Cuda();
  options.cuda_arch = arch;
  options.codegen.clear();  // it is of CPUs
  return options;
}

// What is listed, and a --device that is not in the lists; where nothing is, the CPU.
std::vector<Target> targets_of(const CompileCommand& command) {
  ModelOptions any = command;
  if (!command.cpus.empty() || !command.cuda_archs.empty()) any.device = "";
  const CompileOptions options = compile_options(any);
  std::vector<Target> targets;
  if (!command.cpus.empty()) {
    for (const std::string& cpu : parse_cpus(command.cpus))
      targets.push_back({"cpu " + cpu, for_cpu(options, cpu)});
  }
  if (!command.cuda_archs.empty()) {
    for (const int arch : parse_cuda_archs(command.cuda_archs))
      targets.push_back({fmt::format("cuda {}.{}", arch / 10, arch % 10), for_gpu(options, arch)});
  }
  const Device device = parse_device(command.device);
  const auto is_for_it = [&](const Target& target) {
    return target.options.device->kind() == device.kind();
  };
  if (targets.empty() || (!command.device.empty() && std::ranges::none_of(targets, is_for_it)))
    targets.push_back({to_string(device), compile_options(command)});
  return targets;
}

void print_size(const std::string& path) {
  fmt::print("{}: {} bytes\n", path, std::filesystem::file_size(path));
}

}  // namespace

void compile(const CompileCommand& command) {
  const std::vector<Target> targets = targets_of(command);
  if (is_artifact(command.model))
    throw UsageError("{} is compiled; compile takes models", command.model);
  std::error_code absent;
  if (std::filesystem::equivalent(command.model, command.output, absent))
    throw UsageError("{} is the model itself: the output would replace it", command.output);
  const auto place = command.weights == "beside" ? WeightsPlace::Beside : WeightsPlace::Inside;
  std::vector<CompiledGraph> graphs;
  for (const Target& target : targets) {
    graphs.push_back(Session().compile_onnx(command.model, target.options));
    fmt::print(stderr, "tenon: {} for {}: {} kernels compiled in {:.0f} ms\n", command.model,
               target.name, graphs.back().stats().kernels, graphs.back().stats().milliseconds);
  }
  CompiledGraph::save_all(command.output, graphs, {.weights = place});
  print_size(command.output);
  if (place == WeightsPlace::Beside) print_size(command.output + ".weights");
}

}  // namespace tenon::cli
