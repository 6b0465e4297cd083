// Session: from a model file to a CompiledGraph: import, compile, load.
#include <chrono>

#include "api/impl.h"
#include "base/cpu_info.h"
#include "base/error.h"
#include "base/thread_pool.h"
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

}  // namespace

CompiledGraph Session::compile_onnx(const std::string& path, const CompileOptions& options) const {
  if (options.threads < 0)
    throw user_error("[compile] {} threads: 0 or more are needed", options.threads);
  const auto begin = std::chrono::steady_clock::now();
  driver::Options compile;
  compile.cpu = target(options.cpu);
  compile.codegen = options.codegen;
  driver::Compiled compiled =
      driver::compile_or_save(onnx::import_file(path, {.dim_bounds = options.dim_bounds}), compile);

  auto impl = std::make_unique<CompiledGraph::Impl>();
  impl->program = std::make_shared<const program::Program>(std::move(compiled.program));
  impl->executor = runtime::Executor::load(impl->program, thread_pool()).take();
  if (options.threads > 0) impl->executor->set_threads(options.threads);
  impl->inputs.resize(impl->program->inputs.size());
  impl->outputs.resize(impl->program->outputs.size());
  impl->stats = {.kernels = compiled.kernels,
                 .steps = static_cast<int>(impl->program->steps.size()),
                 .weight_bytes = impl->executor->params().param_bytes(),
                 .packed_bytes = impl->executor->params().packed_bytes()};
  const auto end = std::chrono::steady_clock::now();
  impl->stats.milliseconds = std::chrono::duration<double, std::milli>(end - begin).count();
  return CompiledGraph(std::move(impl));
}

}  // namespace tenon
