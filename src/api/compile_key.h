// The key of a compile on disk: everything that decides what comes of it, field by field, so that
// people can be told which differ. Weights are not among it: what is kept has none.
#pragma once

#include "cache/key.h"
#include "driver/options.h"
#include "graph/graph.h"
#include "tenon/compile_options.h"

namespace tenon {

enum class KeyOf : uint8_t {
  Graph,      // as it was described or imported
  Optimized,  // to be planned and compiled
};

// Of a graph, which `how` compiles; `options` are those that it was made of.
cache::KeyFields compile_key(KeyOf kind, const graph::Graph& graph, const driver::Options& how,
                             const CompileOptions& options);

}  // namespace tenon
