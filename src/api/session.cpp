// Session: from a graph or a model file to a CompiledGraph: compile, load.
#include "tenon/session.h"

#include <fmt/ranges.h>

#include <chrono>

#include "api/graph_state.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "compiled/device_id.h"
#include "compiled/impl.h"
#include "driver/failed_graph.h"
#include "import/onnx/onnx.h"

namespace tenon {
namespace {

CpuInfo target(const std::string& cap) {
  if (cap.empty()) return cpu_info();
  if (cap == "avx2") return detect_cpu(CpuIsa::Avx2);
  if (cap == "avx512") return detect_cpu(CpuIsa::Avx512);
  throw user_error("[compile] cpu \"{}\" is not known; there are: avx2, avx512", cap);
}

schedule::Precision precision(const CompileOptions& options) {
  if (options.precision.empty()) return schedule::Precision::F32;
  const auto found = schedule::parse_precision(options.precision);
  if (!found)
    throw user_error("[compile] precision \"{}\" is not known; there are: {}", options.precision,
                     fmt::join(schedule::kPrecisions, ", "));
  if (*found != schedule::Precision::F32 && options.device.kind() != Device::Kind::Cuda)
    throw unsupported_error("[compile] precision {} is for GPUs, the device is {}",
                            options.precision, to_string(options.device));
  return *found;
}

// The GPU's own, or the one that was asked for.
int cuda_arch(const CompileOptions& options) {
  if (options.device.kind() != Device::Kind::Cuda) {
    if (options.cuda_arch != 0)
      throw user_error("[compile] cuda_arch {} is for GPUs, the device is {}", options.cuda_arch,
                       to_string(options.device));
    return 0;
  }
  if (options.cuda_arch != 0) return options.cuda_arch;
  const auto found = runtime::cuda_arch(options.device.index());
  if (!found) {
    throw user_error("[compile] {} is not available: {}", to_string(options.device),
                     found.error().what());
  }
  return found.value();
}

// Null where the device is not there, which only a run needs.
std::unique_ptr<runtime::Executor> load(const CompileOptions& options,
                                        std::shared_ptr<const program::Program> program) {
  if (options.cuda_arch != 0 && !is_available(options.device)) return nullptr;
  auto stream = runtime::open_stream(device_id(options.device), thread_pool()).take();
  auto executor = runtime::Executor::load(std::move(program), std::move(stream)).take();
  if (options.threads > 0) executor->set_threads(options.threads);
  return executor;
}

driver::Options driver_options(const CompileOptions& options) {
  if (options.threads < 0)
    throw user_error("[compile] {} threads: 0 or more are needed", options.threads);
  driver::Options result;
  result.device = device_id(options.device).kind;
  result.cuda_arch = cuda_arch(options);
  result.cpu = target(options.cpu);
  result.codegen = options.codegen;
  result.precision = precision(options);
  return result;
}

}  // namespace

// What every way of compiling ends with.
CompiledGraph Session::finish(const std::function<graph::Graph()>& read,
                              const CompileOptions& options) {
  const auto begin = std::chrono::steady_clock::now();
  const driver::Options how = driver_options(options);
  driver::Compiled compiled = driver::compile_or_save(read(), how);
  auto program = std::make_shared<const program::Program>(std::move(compiled.program));
  auto executor = load(options, program);
  auto impl = std::make_unique<CompiledGraph::Impl>(std::move(program), options.device,
                                                    std::move(executor));
  impl->stats.kernels = compiled.kernels;
  impl->stats.steps = static_cast<int>(impl->program->steps.size());
  if (impl->loaded) {
    impl->stats.weight_bytes = impl->loaded->params().param_bytes();
    impl->stats.packed_bytes = impl->loaded->params().packed_bytes();
  }
  const auto end = std::chrono::steady_clock::now();
  impl->stats.milliseconds = std::chrono::duration<double, std::milli>(end - begin).count();
  return CompiledGraph(std::move(impl));
}

CompiledGraph Session::compile(const Graph& graph, const CompileOptions& options) const {
  if (!options.dim_bounds.empty())
    throw user_error("[compile] dim_bounds are for models from files: a graph has its own symbols");
  const graph::Graph& inner = GraphState::of(graph).graph;
  if (inner.outputs().empty())
    throw user_error("[compile] the graph has no outputs: call set_outputs before");
  return finish([&] { return inner; }, options);
}

CompiledGraph Session::compile_onnx(const std::string& path, const CompileOptions& options) const {
  return finish([&] { return onnx::import_file(path, {.dim_bounds = options.dim_bounds}); },
                options);
}

}  // namespace tenon
