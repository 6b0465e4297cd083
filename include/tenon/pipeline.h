// CompilePipeline: the compiler stage by stage, for those who want to see what it does, or to stop
// in between. Session does all of it in one call.
//
//   tenon::CompilePipeline pipeline;
//   auto [graph, fusion, dispatch] = pipeline.optimize_with_report(pipeline.preprocess(model));
//   tenon::LirModule lir = pipeline.plan_lir(graph);
//   tenon::CompiledGraph compiled = tenon::Session().compile(lir);
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tenon/compile_options.h"
#include "tenon/fusion_report.h"
#include "tenon/graph.h"
#include "tenon/graph_module.h"
#include "tenon/hir.h"
#include "tenon/lir.h"

namespace tenon {

struct CompileResult {
  LirModule lir;
  FusionReport fusion;
  DispatchReport dispatch;
};

// A graph that the backend takes, and what was done to get there.
struct Optimized {
  Graph graph;
  FusionReport fusion;
  DispatchReport dispatch;
};

// The text of one stage of a compile.
struct StageText {
  // In this order, as far as there are: "hir", "graph", the passes by name, "fusion_report",
  // "dispatch_report", "lir", "memory_map", "kernel:NAME", "source:NAME". Those of branches and
  // loops have "body0/" in front.
  std::string stage;
  std::string text;
};
using StageTexts = std::vector<StageText>;

class CompilePipeline {
 public:
  CompilePipeline() = default;
  explicit CompilePipeline(CompileOptions target) : options_(std::move(target)) {}

  CompilePipeline& set_fusion(FusionOptions fusion);
  CompilePipeline& set_supported_ops(std::set<std::string> ops);
  CompilePipeline& set_dispatch(DispatchOptions dispatch);
  CompilePipeline& set_memory(PlanOptions memory);
  const CompileOptions& options() const { return options_; }

  Graph lower_hir(const HirModule& module) const;  // by the policy of the fusion options
  // Constants folded, dead code gone, ops that no backend has written with others.
  Graph preprocess(const Graph& graph) const;
  // Fused, and legalized for the target. (What preprocess rewrote, only compile_* count.)
  Optimized optimize_with_report(const Graph& preprocessed) const;
  LirModule plan_lir(const Graph& optimized) const;
  LirModule plan_lir_with_options(const Graph& optimized, const PlanOptions& memory) const;
  LirModule specialize_lir(const LirModule& lir, const DimBinding& binding) const {
    return lir.specialize(binding);
  }
  CompileResult specialize_lir(const CompileResult& result, const DimBinding& binding) const {
    return {result.lir.specialize(binding), result.fusion, result.dispatch};
  }

  // All of it, to the last stage before code.
  CompileResult compile_mir(const Graph& graph) const;
  CompileResult compile_hir(const HirModule& module) const;
  // A planned module is taken as it is, with an empty FusionReport.
  CompileResult compile_module(const GraphModule& module) const;
  CompileResult compile_graph(const Graph& graph) const { return compile_mir(graph); }

  // Every stage as text, code included, in order.
  StageTexts inspect(const Graph& graph) const;
  StageTexts inspect(const HirModule& module) const;
  StageTexts inspect(const GraphModule& module) const;  // of a planned module: from "lir" on

 private:
  CompileOptions options_;
};

// What the compiler makes of a model by these options: a Graph, a HirModule or a GraphModule.
template <typename Model>
StageTexts inspect_pipeline(const Model& model, const CompileOptions& options = {}) {
  return CompilePipeline(options).inspect(model);
}

}  // namespace tenon
