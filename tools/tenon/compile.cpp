// See compile.h.
#include "tools/tenon/compile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace tenon::cli {

CompiledGraph compile_model(const std::string& path, const std::string& precision, int threads) {
  if (precision != "f32") throw UsageError("precision '{}' is not known; there is: f32", precision);
  // People see that something is under way; in a log, an error is one line.
  if (isatty(STDERR_FILENO)) fmt::print(stderr, "tenon: compiling {} ...\n", path);
  CompiledGraph graph = Session().compile_onnx(path);
  fmt::print(stderr, "tenon: {}: {} kernels compiled in {:.0f} ms\n", path, graph.stats().kernels,
             graph.stats().milliseconds);
  if (threads > 0) use_threads(graph, threads);
  return graph;
}

int use_threads(CompiledGraph& graph, int threads) {
  graph.set_threads(threads);
  const int used = graph.threads();
  if (used == threads) return used;
  fmt::print(stderr,
             "tenon: {} threads asked, {} used: affinity, quota and TENON_THREADS allow no more\n",
             threads, used);
  return used;
}

}  // namespace tenon::cli
