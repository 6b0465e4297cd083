// CompilePipeline: the driver's stages on public types.
#include "tenon/pipeline.h"

#include "api/driver_options.h"
#include "api/graph_state.h"
#include "api/lir_state.h"
#include "api/planned_by.h"
#include "base/error.h"
#include "graph/specialize.h"

namespace tenon {
namespace {

const graph::Graph& checked(const Graph& graph) {
  const graph::Graph& inner = GraphState::of(graph).graph;
  if (inner.outputs().empty())
    throw user_error("[compile] the graph has no outputs: call set_outputs before");
  return inner;
}

// With values for its dims, where the options give them.
graph::Graph bound(const Graph& graph, const CompileOptions& options) {
  const graph::Graph& source = checked(graph);
  return options.dim_binding.empty() ? source
                                     : graph::specialize(source, options.dim_binding.values());
}

driver::Options with_marks(driver::Options options, const Graph& graph) {
  options.bucket_axes = GraphState::of(graph).bucket_axes;
  return options;
}

CompileOptions resolved(const CompileOptions& options) {
  check_dim_bounds(options);
  return with_profile(options);
}

driver::Options with_dump_to(StageTexts& texts, const CompileOptions& options) {
  driver::Options result = driver_options(options);
  result.dump = [&texts](std::string_view stage, const std::string& text) {
    texts.push_back({std::string(stage), text});
  };
  return result;
}

}  // namespace

CompilePipeline& CompilePipeline::set_fusion(FusionOptions fusion) {
  options_.fusion = std::move(fusion);
  return *this;
}

CompilePipeline& CompilePipeline::set_supported_ops(std::set<std::string> ops) {
  options_.supported_ops = std::move(ops);
  return *this;
}

CompilePipeline& CompilePipeline::set_dispatch(DispatchOptions dispatch) {
  options_.dispatch = std::move(dispatch);
  return *this;
}

CompilePipeline& CompilePipeline::set_memory(PlanOptions memory) {
  options_.memory = memory;
  return *this;
}

Graph CompilePipeline::lower_hir(const HirModule& module) const {
  return tenon::lower_hir(module, options_.fusion.policy.value_or(FusionPolicy::Direct));
}

Graph CompilePipeline::preprocess(const Graph& graph) const {
  const CompileOptions options = resolved(options_);
  const auto level = verbosity_of(options);
  driver::Pipeline pipeline(with_marks(driver_options(options), graph));
  return GraphState::wrap(pipeline.preprocess(bound(graph, options)));
}

Optimized CompilePipeline::optimize_with_report(const Graph& preprocessed) const {
  const CompileOptions options = resolved(options_);
  const auto level = verbosity_of(options);
  driver::Pipeline pipeline(driver_options(options));
  driver::Optimized optimized = pipeline.optimize(checked(preprocessed));
  return {GraphState::wrap(std::move(optimized.graph)), std::move(optimized.fusion),
          std::move(optimized.dispatch)};
}

LirModule CompilePipeline::plan_lir(const Graph& optimized) const {
  const CompileOptions options = resolved(options_);
  const auto level = verbosity_of(options);
  driver::Pipeline(driver_options(options)).check_optimized(checked(optimized));
  return LirState::plan_of(checked(optimized), options);
}

LirModule CompilePipeline::plan_lir_with_options(const Graph& optimized,
                                                 const PlanOptions& memory) const {
  return CompilePipeline(*this).set_memory(memory).plan_lir(optimized);
}

CompileResult CompilePipeline::compile_mir(const Graph& graph) const {
  const CompileOptions options = resolved(options_);
  const auto level = verbosity_of(options);
  driver::Pipeline pipeline(with_marks(driver_options(options), graph));
  driver::Optimized optimized = pipeline.optimize(pipeline.preprocess(bound(graph, options)));
  LirModule lir = LirState::plan_of(optimized.graph, options, pipeline);
  LirState::of(lir).lir.bodies.add_to(optimized.fusion, optimized.dispatch);
  return {std::move(lir), std::move(optimized.fusion), std::move(optimized.dispatch)};
}

CompileResult CompilePipeline::compile_hir(const HirModule& module) const {
  return compile_mir(lower_hir(module));
}

CompileResult CompilePipeline::compile_module(const GraphModule& module) const {
  switch (module.stage()) {
    case GraphModule::Stage::Hir:
      return compile_hir(module.hir());
    case GraphModule::Stage::Mir:
      return compile_mir(module.mir());
    case GraphModule::Stage::Lir:
      break;
  }
  check_planned_by(LirState::of(module.lir()).options, options_);
  return {module.lir(), {}, {}};
}

StageTexts CompilePipeline::inspect(const Graph& graph) const {
  StageTexts texts;
  const CompileOptions options = resolved(options_);
  const auto level = verbosity_of(options);
  driver::compile(bound(graph, options), with_marks(with_dump_to(texts, options), graph));
  return texts;
}

StageTexts CompilePipeline::inspect(const HirModule& module) const {
  StageTexts texts = {{"hir", module.print()}};
  for (StageText& text : inspect(lower_hir(module))) texts.push_back(std::move(text));
  return texts;
}

StageTexts CompilePipeline::inspect(const GraphModule& module) const {
  if (module.stage() == GraphModule::Stage::Hir) return inspect(module.hir());
  if (module.stage() == GraphModule::Stage::Mir) return inspect(module.mir());
  StageTexts texts;
  const LirState& state = LirState::of(module.lir());
  check_planned_by(state.options, options_);
  const auto level = verbosity_of(state.options);
  driver::Pipeline pipeline(with_dump_to(texts, state.options));
  pipeline.dump_plan(state.lir);
  pipeline.generate(state.lir);
  return texts;
}

}  // namespace tenon
