// What a public LirModule holds.
#pragma once

#include <unordered_map>

#include "driver/pipeline.h"
#include "tenon/lir.h"

namespace tenon {

struct LirState {
  LirState(const graph::Graph& optimized, const CompileOptions& given, driver::Pipeline& pipeline);

  CompileOptions options;  // by which it was planned: nothing that decides is left out
  driver::Lir lir;
  BufferPlan plan;
  // Where it was specialized: from what, and the values that its symbols got.
  std::shared_ptr<const LirState> template_of = {};
  DimBinding binding = {};

  static LirModule plan_of(const graph::Graph& optimized, const CompileOptions& options);
  // By the pipeline of these options that made the graph.
  static LirModule plan_of(const graph::Graph& optimized, const CompileOptions& options,
                           driver::Pipeline& pipeline);
  static LirModule wrap(LirState state);
  static const LirState& of(const LirModule& module);  // an Error where it is empty
};

// Of every node that the graph's order has.
std::unordered_map<const graph::Node*, Phase> phases_of(const graph::Graph& graph);

}  // namespace tenon
