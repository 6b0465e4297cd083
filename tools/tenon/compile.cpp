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
  if (threads > 0) graph.set_threads(threads);
  fmt::print(stderr, "tenon: {}: {} kernels compiled in {:.0f} ms\n", path, graph.stats().kernels,
             graph.stats().milliseconds);
  return graph;
}

}  // namespace tenon::cli
