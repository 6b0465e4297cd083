// Session: from a graph or a model file to a CompiledGraph: compile, load.
#include "tenon/session.h"

#include <chrono>
#include <tuple>

#include "api/compile_log.h"
#include "api/disk_cache.h"
#include "api/driver_options.h"
#include "api/graph_state.h"
#include "api/lir_state.h"
#include "api/planned_by.h"
#include "api/specialized.h"
#include "api/tuned.h"
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
#include "program/cuda_arch.h"

namespace tenon {
namespace {

// What is compiled for a GPU that is named by its compute capability need not run here.
bool runs_here(const Device& device, int cuda_arch) {
  if (cuda_arch == 0) return true;
  return is_available(device) &&
         program::cubin_runs_on(cuda_arch, runtime::cuda_arch(device.index()).take());
}

// Null where the device is not there, which only a run needs.
std::unique_ptr<runtime::Executor> open(const CompileOptions& options,
                                        std::shared_ptr<const program::Program> program) {
  const Device device = device_of(options);
  if (!runs_here(device, options.cuda_arch)) return nullptr;
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

using Plan = std::function<driver::Lir()>;

// What code for given extents is made of: a program that was found on disk is planned again.
ScheduledKernels scheduled_of(driver::Compiled& compiled, const Plan& plan) {
  if (compiled.restored) return [plan] { return plan().kernels; };
  return [kernels = std::move(compiled.scheduled)] { return kernels; };
}

Plan plan_of(const graph::Graph& source, const driver::Options& how) {
  return [source, how] {
    driver::Pipeline pipeline(how);
    return pipeline.plan(pipeline.optimize(pipeline.preprocess(source)).graph);
  };
}

compiled::ActiveProgram opened(driver::Compiled compiled, const Plan& plan,
                               const CompileOptions& options) {
  auto shared = std::make_shared<const program::Program>(std::move(compiled.program));
  compiled::ActiveProgram active{shared, open(options, shared), compiled.kernels,
                                 std::move(compiled.active)};
  if (active.executor)
    active.specializer =
        specialize(*active.executor, shared, scheduled_of(compiled, plan), options);
  return active;
}

// Of a graph that was compiled before, for a bucket.
compiled::ActiveProgram compile_bucket(const graph::Graph& graph, const graph::BucketAxes& marked,
                                       int64_t upper, const CompileOptions& options,
                                       cache::DiskStore* store) {
  const auto level = verbosity_of(options);
  if (marked.empty()) check_no_states(graph);
  driver::Options how = driver_options(options);
  how.bucket_axes = graph::bucket_axes(graph, marked, upper);
  how.bucket_axes_guessed = marked.empty();
  driver::Compiled compiled = compile_graph(graph, how, options, store);
  if (compiled.active.upper == 0) {
    compiled.active = {.upper = upper, .fallback = "the pass active_extent is skipped"};
    for (const auto& [input, axis] : how.bucket_axes)
      compiled.active.inputs.push_back({input, {axis}});
  }
  return opened(std::move(compiled), plan_of(graph, how), options);
}

// Of one that was planned.
compiled::ActiveProgram plan_bucket(const graph::Graph& graph, int64_t upper,
                                    const CompileOptions& options, cache::DiskStore* store) {
  const auto level = verbosity_of(options);
  check_no_states(graph);
  graph::ActiveGraph active =
      graph::with_guessed_extent(graph, graph::bucket_axes(graph, {}, upper));
  const Plan plan = [graph = active.graph, how = driver_options(options)] {
    return driver::Pipeline(how).plan(graph);
  };
  driver::Compiled compiled = compile_planned(active.graph, plan, options, store);
  compiled.active = std::move(active.report);
  return opened(std::move(compiled), plan, options);
}

}  // namespace

// What every way of compiling ends with.
CompiledGraph Session::load(driver::Compiled& compiled, const Plan& plan,
                            const CompileOptions& options) {
  auto program = std::make_shared<const program::Program>(std::move(compiled.program));
  auto executor = open(options, program);
  auto impl = std::make_unique<CompiledGraph::Impl>(std::move(program), device_of(options),
                                                    std::move(executor));
  impl->name = name_of(options);
  impl->stats.kernels = compiled.kernels;
  impl->stats.kernels_from_cache = compiled.kernels_from_cache;
  impl->stats.from_disk = compiled.restored;
  impl->stats.steps = static_cast<int>(impl->program->steps.size());
  impl->asked_to_specialize = specialization_of(options).has_value();
  if (impl->loaded) {
    impl->specializer =
        tenon::specialize(*impl->loaded, impl->program, scheduled_of(compiled, plan), options);
    impl->stats.weight_bytes = impl->loaded->params().param_bytes();
    impl->stats.packed_bytes = impl->loaded->params().packed_bytes();
  }
  return CompiledGraph(std::move(impl));
}

// Of a graph, wherever it comes from.
CompiledGraph Session::finish(const ReadGraph& read, const std::map<std::string, int>& marked,
                              const CompileOptions& options) const {
  const auto begin = Clock::now();
  const auto level = verbosity_of(options);
  driver::Options how = driver::with_dump(driver_options(options));
  how.bucket_axes = marked;
  graph::Graph graph = read(how);
  if (graph.outputs().empty())
    throw user_error("[compile] the graph has no outputs: call set_outputs before");
  check_typical(options, graph);
  if (!options.dim_binding.empty()) graph = graph::specialize(graph, options.dim_binding.values());
  const std::shared_ptr<cache::DiskStore> store = store_of(options);
  driver::Compiled compiled = compile_graph(graph, how, options, store.get());
  CompiledGraph result = load(compiled, plan_of(graph, how), options);
  result.impl().fusion = std::move(compiled.fusion);
  result.impl().dispatch = std::move(compiled.dispatch);
  result.impl().serve_rows(std::move(compiled.active));
  result.impl().make_active = [graph = std::move(graph), marked, options, store](int64_t upper) {
    return compile_bucket(graph, marked, upper, options, store.get());
  };
  CompileStats& stats = result.impl().stats;
  stats.milliseconds = milliseconds_since(begin);
  log_compiled(how.name, *result.impl().program, stats);
  return result;
}

// Null: what is compiled is not kept.
std::shared_ptr<cache::DiskStore> Session::store_of(const CompileOptions& options) const {
  if (store_ && !options.disk_cache.value_or(true))
    throw user_error("[AotCache] the options say disk_cache = false");
  if (store_) return store_;
  if (!options.disk_cache.value_or(false)) return nullptr;
  return {std::shared_ptr<void>(),
          &cache::default_disk_store()};  // nobody's: it lives with the process
}

Session Session::with_policy(PrecisionPolicy policy) const {
  Session result = *this;
  result.defaults_ = merged(defaults_, {.precision_policy = PrecisionOptions{.policy = policy}});
  return result;
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

// What is planned already is compiled by its own options, and by those that decide nothing.
CompileOptions Session::options_beside(const LirModule& lir, const CompileOptions& given) const {
  const CompileOptions& planned = LirState::of(lir).options;
  const CompileOptions asked = with_profile(merged(defaults_, given));
  check_planned_by(planned, asked);
  return merged(planned, asked);
}

CompiledGraph Session::finish_planned(const graph::Graph& graph, const Plan& plan,
                                      const CompileOptions& options) const {
  const auto begin = Clock::now();
  const auto level = verbosity_of(options);
  const std::shared_ptr<cache::DiskStore> store = store_of(options);
  driver::Compiled compiled = compile_planned(graph, plan, options, store.get());
  CompiledGraph result = load(compiled, plan, options);
  result.impl().make_active = [graph, options, store](int64_t upper) {
    return plan_bucket(graph, upper, options, store.get());
  };
  CompileStats& stats = result.impl().stats;
  stats.milliseconds = milliseconds_since(begin);
  log_compiled(name_of(options), *result.impl().program, stats);
  return result;
}

CompiledGraph Session::compile(const LirModule& lir, const CompileOptions& given) const {
  const CompileOptions options = options_beside(lir, given);
  const auto plan = [lir] { return LirState::of(lir).lir; };
  return finish_planned(LirState::of(lir).lir.graph, plan, options);
}

CompiledGraph Session::specialize(const LirModule& base, const DimBinding& binding,
                                  const CompileOptions& given) const {
  const CompileOptions options = options_beside(base, given);
  const graph::Graph special = graph::specialize(LirState::of(base).lir.graph, binding.values());
  const auto plan = [special, how = driver_options(options)] {
    return driver::Pipeline(how).plan(special);
  };
  return finish_planned(special, plan, options);
}

CompiledGraph Session::compile_onnx(const std::string& path, const CompileOptions& given) const {
  const CompileOptions options = with_profile(merged({.name = path}, merged(defaults_, given)));
  const auto read = [&](const driver::Options&) {
    return onnx::import_file(path, {.dim_bounds = options.dim_bounds});
  };
  return finish(read, {}, options);
}

}  // namespace tenon
