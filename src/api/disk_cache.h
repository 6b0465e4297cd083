// Compiles that look on disk first: what another process compiled is read instead.
#pragma once

#include "base/function_ref.h"
#include "cache/disk_store.h"
#include "driver/pipeline.h"
#include "graph/graph.h"
#include "tenon/compile_options.h"

namespace tenon {

// driver::compile_or_save, through `store` where it is not null.
driver::Compiled compile_graph(const graph::Graph& graph, const driver::Options& how,
                               const CompileOptions& options, cache::DiskStore* store);
// Code for an optimized graph, whose plan is `plan`'s, likewise.
driver::Compiled compile_planned(const graph::Graph& optimized, FunctionRef<driver::Lir()> plan,
                                 const CompileOptions& options, cache::DiskStore* store);

}  // namespace tenon
