// What a public LirModule holds.
#pragma once

#include "driver/pipeline.h"
#include "tenon/lir.h"

namespace tenon {

struct LirState {
  CompileOptions options;  // by which it was planned
  driver::Lir lir;
  BufferPlan plan;

  static LirModule plan_of(const graph::Graph& optimized, const CompileOptions& options);
  // By the pipeline of these options that made the graph.
  static LirModule plan_of(const graph::Graph& optimized, const CompileOptions& options,
                           driver::Pipeline& pipeline);
  static const LirState& of(const LirModule& module);  // an Error where it is empty
};

}  // namespace tenon
