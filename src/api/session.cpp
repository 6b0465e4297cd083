// Session: from a graph or a model file to a CompiledGraph: compile, load.
#include "tenon/session.h"

#include <chrono>
#include <tuple>

#include "api/compile_log.h"
#include "api/driver_options.h"
#include "api/graph_state.h"
#include "api/lir_state.h"
#include "api/planned_by.h"
#include "api/specialized.h"
#include "base/error.h"
#include "base/thread_pool.h"
#include "compiled/device_id.h"
#include "compiled/impl.h"
#include "driver/dump.h"
#include "driver/failed_graph.h"
#include "graph/active_extent.h"
#include "graph/specialize.h"
#include "graph/state.h"
#include "import/onnx/onnx.h"

namespace tenon {
namespace {

// Null where the device is not there, which only a run needs.
std::unique_ptr<runtime::Executor> open(const CompileOptions& options,
                                        std::shared_ptr<const program::Program> program) {
  const Device device = device_of(options);
  if (options.cuda_arch != 0 && !is_available(device)) return nullptr;
  auto stream = runtime::open_stream(device_id(device), thread_pool()).take();
  auto executor = runtime::Executor::load(std::move(program), std::move(stream)).take();
  if (options.threads > 0) executor->set_threads(options.threads);
  return executor;
}

using Clock = std::chrono::steady_clock;
double milliseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

// Compiling again would lose them.
void check_no_states(const graph::Graph& graph) {
  for (const graph::Value& input : graph.inputs()) {
    if (graph::state_layout(input))
      throw unsupported_error(
          "[set_active_extent] the graph has states: mark the bucket's axis of an input");
  }
}

compiled::ActiveProgram opened(program::Program program, int kernels, ActiveExtentReport report,
                               std::vector<driver::UniqueKernel> scheduled,
                               const CompileOptions& options) {
  auto shared = std::make_shared<const program::Program>(std::move(program));
  compiled::ActiveProgram active{shared, open(options, shared), kernels, std::move(report)};
  if (active.executor)
    active.specializer = specialize(*active.executor, shared, std::move(scheduled), options);
  return active;
}

// Of a graph that was compiled before, for a bucket.
compiled::ActiveProgram compile_bucket(const graph::Graph& graph, const graph::BucketAxes& marked,
                                       int64_t upper, const CompileOptions& options) {
  const auto level = verbosity_of(options);
  if (marked.empty()) check_no_states(graph);
  driver::Options how = driver_options(options);
  how.bucket_axes = graph::bucket_axes(graph, marked, upper);
  driver::Compiled compiled = driver::compile_or_save(graph, how);
  if (compiled.active.upper == 0) {
    compiled.active = {.upper = upper, .fallback = "the pass active_extent is skipped"};
    for (const auto& [input, axis] : how.bucket_axes)
      compiled.active.inputs.push_back({input, {axis}});
  }
  return opened(std::move(compiled.program), compiled.kernels, std::move(compiled.active),
                std::move(compiled.scheduled), options);
}

// Of one that was planned.
compiled::ActiveProgram plan_bucket(const graph::Graph& graph, int64_t upper,
                                    const CompileOptions& options) {
  const auto level = verbosity_of(options);
  check_no_states(graph);
  graph::ActiveGraph active =
      graph::with_active_extent(graph, graph::bucket_axes(graph, {}, upper));
  driver::Pipeline pipeline(driver_options(options));
  driver::Lir lir = pipeline.plan(active.graph);
  const int kernels = lir.body_kernels + static_cast<int>(lir.kernels.size());
  const std::vector<driver::UniqueKernel> scheduled = lir.kernels;
  return opened(pipeline.generate(std::move(lir)), kernels, std::move(active.report), scheduled,
                options);
}

}  // namespace

// What every way of compiling ends with. `scheduled`: what code for given extents is made of.
CompiledGraph Session::load(program::Program compiled, int kernels,
                            std::vector<driver::UniqueKernel> scheduled,
                            const CompileOptions& options) {
  auto program = std::make_shared<const program::Program>(std::move(compiled));
  auto executor = open(options, program);
  auto impl = std::make_unique<CompiledGraph::Impl>(std::move(program), device_of(options),
                                                    std::move(executor));
  impl->name = name_of(options);
  impl->stats.kernels = kernels;
  impl->stats.steps = static_cast<int>(impl->program->steps.size());
  impl->asked_to_specialize = specialization_of(options).has_value();
  if (impl->loaded) {
    impl->specializer = specialize(*impl->loaded, impl->program, std::move(scheduled), options);
    impl->stats.weight_bytes = impl->loaded->params().param_bytes();
    impl->stats.packed_bytes = impl->loaded->params().packed_bytes();
  }
  return CompiledGraph(std::move(impl));
}

// Of a graph, wherever it comes from.
CompiledGraph Session::finish(const ReadGraph& read, const std::map<std::string, int>& marked,
                              const CompileOptions& options) {
  const auto begin = Clock::now();
  const auto level = verbosity_of(options);
  driver::Options how = driver::with_dump(driver_options(options));
  how.bucket_axes = marked;
  graph::Graph graph = read(how);
  if (graph.outputs().empty())
    throw user_error("[compile] the graph has no outputs: call set_outputs before");
  if (!options.dim_binding.empty()) graph = graph::specialize(graph, options.dim_binding.values());
  driver::Compiled compiled = driver::compile_or_save(graph, how);
  CompiledGraph result =
      load(std::move(compiled.program), compiled.kernels, std::move(compiled.scheduled), options);
  result.impl().fusion = std::move(compiled.fusion);
  result.impl().dispatch = std::move(compiled.dispatch);
  result.impl().serve_rows(std::move(compiled.active));
  result.impl().make_active = [graph = std::move(graph), marked, options](int64_t upper) {
    return compile_bucket(graph, marked, upper, options);
  };
  CompileStats& stats = result.impl().stats;
  stats.kernels_from_cache = compiled.kernels_from_cache;
  stats.milliseconds = milliseconds_since(begin);
  log_compiled(how.name, *result.impl().program, stats);
  return result;
}

Session Session::with_policy(PrecisionPolicy policy) const {
  return Session(merged(defaults_, {.precision_policy = PrecisionOptions{.policy = policy}}));
}

CompiledGraph Session::compile(const Graph& graph, const CompileOptions& given) const {
  const CompileOptions options = with_profile(merged(defaults_, given));
  check_dim_bounds(options);
  const GraphState& state = GraphState::of(graph);
  return finish([&](const driver::Options&) { return state.graph; }, state.bucket_axes, options);
}

CompiledGraph Session::compile(const HirModule& module, const CompileOptions& given) const {
  const CompileOptions options = with_profile(merged(defaults_, given));
  check_dim_bounds(options);
  const Graph lowered = lower_hir(module, options.fusion.policy.value_or(FusionPolicy::Direct));
  const GraphState& state = GraphState::of(lowered);
  const auto read = [&](const driver::Options& how) {
    if (how.dump) how.dump("hir", module.print());
    return state.graph;
  };
  return finish(read, state.bucket_axes, options);
}

CompiledGraph Session::compile(const GraphModule& module, const CompileOptions& given) const {
  CompileOptions options = given;
  if (merged(defaults_, given).name.empty()) options.name = module.name();
  switch (module.stage()) {
    case GraphModule::Stage::Hir:
      return compile(module.hir(), options);
    case GraphModule::Stage::Mir:
      return compile(module.mir(), options);
    case GraphModule::Stage::Lir:
      break;
  }
  return compile(module.lir(), options);
}

CompiledGraph Session::compile(const LirModule& lir, const CompileOptions& given) const {
  const auto begin = Clock::now();
  const LirState& state = LirState::of(lir);
  const CompileOptions asked = with_profile(merged(defaults_, given));
  check_planned_by(state.options, asked);
  const CompileOptions options = merged(state.options, asked);
  const auto level = verbosity_of(options);
  driver::Pipeline pipeline(driver_options(options));
  const int kernels = state.lir.body_kernels + static_cast<int>(state.lir.kernels.size());
  CompiledGraph result = load(pipeline.generate(state.lir), kernels, state.lir.kernels, options);
  result.impl().make_active = [graph = state.lir.graph, options](int64_t upper) {
    return plan_bucket(graph, upper, options);
  };
  CompileStats& stats = result.impl().stats;
  stats.kernels_from_cache = kernels - pipeline.kernels_compiled();
  stats.milliseconds = milliseconds_since(begin);
  log_compiled(name_of(options), *result.impl().program, stats);
  return result;
}

CompiledGraph Session::compile_onnx(const std::string& path, const CompileOptions& given) const {
  const CompileOptions options = with_profile(merged({.name = path}, merged(defaults_, given)));
  const auto read = [&](const driver::Options&) {
    return onnx::import_file(path, {.dim_bounds = options.dim_bounds});
  };
  return finish(read, {}, options);
}

}  // namespace tenon
