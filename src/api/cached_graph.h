// A compiled graph in a cache: with what it was compiled by, and what keeps the calls that the
// cache itself makes apart.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "tenon/compiled_handle.h"
#include "tenon/session.h"

namespace tenon {

struct CachedGraph {
  CachedGraph(CompiledGraph compiled, CompileOptions options);

  // Waits for what is pending, unless a call uses the graph: then it is that caller's. A call that
  // comes meanwhile waits.
  void sync();

  // Runs the first `rows` of a bucket of `upper`; as f32 its outputs: `inners` elements of each of
  // these rows, or all of an output of which it says 0 or nothing, with zeros past them.
  std::vector<std::vector<float>> run_rows(int64_t rows, int64_t upper, const NamedInputs& inputs,
                                           std::span<const int64_t> inners);

  CompiledGraph graph;
  const CompileOptions given;                             // beside those of the cache
  const std::shared_ptr<const program::Program> program;  // as it was compiled
  std::mutex mutex;                                       // held by calls of the cache
};

}  // namespace tenon
