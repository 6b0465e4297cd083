// See compile.h.
#include "tools/tenon/compile.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "codegen/generator.h"
#include "program/artifact_header.h"
#include "tools/tenon/precision.h"

namespace tenon::cli {

void check_codegen(const std::string& name) {
  std::vector<std::string_view> names;
  for (const codegen::Generator& generator : codegen::generators()) {
    if (name.empty() || name == generator.name) return;
    names.push_back(generator.name);
  }
  throw UsageError("generator '{}' is not known; there are: {}", name, fmt::join(names, ", "));
}

void check_codegen(const std::string& name, const Device& device) {
  check_codegen(name);
  if (!name.empty() && device.kind() != Device::Kind::Cpu)
    throw UsageError("--codegen {} is for the CPU, not for {}", name, to_string(device));
}

Device parse_device(const std::string& name) {
  try {
    return name.empty() ? Device::Cpu() : Device::parse(name);
  } catch (const Error& error) {
    throw UsageError("{}", error.what());
  }
}

std::optional<OptStrategy> parse_optimizer(const std::string& name) {
  if (name.empty()) return std::nullopt;
  try {
    return OptStrategy::parse(name);
  } catch (const Error& error) {
    throw UsageError("{}", error.what());
  }
}

bool is_artifact(const std::string& path) {
  std::error_code absent;
  if (!std::filesystem::is_regular_file(path, absent)) return false;
  auto magic = program::ArtifactHeader::kMagic;
  magic.fill(0);
  std::ifstream(path, std::ios::binary)
      .read(reinterpret_cast<char*>(magic.data()), static_cast<std::streamsize>(magic.size()));
  return magic == program::ArtifactHeader::kMagic;
}

namespace {

CompiledGraph load_artifact(const ModelOptions& options) {
  if (!options.codegen.empty() || options.precision != "f32" || !options.optimizer.empty() ||
      !options.tuned.empty())
    throw UsageError(
        "{} is compiled: --codegen, --precision, --optimizer and --tuned were decided then",
        options.model);
  std::optional<Device> device;
  if (!options.device.empty()) device = parse_device(options.device);
  CompiledGraph graph = CompiledGraph::load(options.model, {.device = device});
  fmt::print(stderr, "tenon: {}: {} kernels loaded in {:.0f} ms\n", options.model,
             graph.stats().kernels, graph.stats().milliseconds);
  return graph;
}

}  // namespace

CompileOptions compile_options(const ModelOptions& options) {
  const Device device = parse_device(options.device);
  check_codegen(options.codegen, device);
  CompileOptions result{.device = device,
                        .cpu = options.cpu,
                        .codegen = options.codegen,
                        .optimizer = parse_optimizer(options.optimizer),
                        .tuned = options.tuned};
  set_precision(options.precision, result);
  return result;
}

CompiledGraph compile_model(const ModelOptions& options, int threads, bool disk_cache) {
  const std::string& path = options.model;
  CompileOptions how = compile_options(options);
  how.disk_cache = disk_cache;
  how.threads = threads;
  const Device device = *how.device;
  if (!is_available(device))
    throw Error(ErrorKind::User,
                fmt::format("{} is not available: {}", to_string(device), why_unavailable(device)));
  if (is_artifact(path)) {
    CompiledGraph graph = load_artifact(options);
    if (threads > 0) use_threads(graph, threads);
    return graph;
  }
  // People see that something is under way; in a log, an error is one line.
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "tenon: compiling {} ...\n", path);
  CompiledGraph graph = Session().compile_onnx(path, how);
  fmt::print(stderr, "tenon: {}: {} kernels {} in {:.0f} ms\n", path, graph.stats().kernels,
             graph.stats().from_disk ? "from the disk cache" : "compiled",
             graph.stats().milliseconds);
  if (threads > 0) use_threads(graph, threads);
  return graph;
}

int use_threads(CompiledGraph& graph, int threads) {
  graph.set_threads(threads);
  const int used = graph.threads();
  if (used == threads) return used;
  fmt::print(stderr,
             "tenon: {} threads asked, {} used: affinity, quota and TENON_THREADS allow no more\n",
             threads, used);
  return used;
}

}  // namespace tenon::cli
