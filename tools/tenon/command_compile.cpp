// tenon compile: a model file -> an artifact, which run and bench take in its place.
#include <filesystem>

#include "tools/tenon/commands.h"
#include "tools/tenon/compile.h"

namespace tenon::cli {

void compile(const CompileCommand& options) {
  const CompiledGraph graph = compile_model(options, 0);
  graph.save(options.output);
  fmt::print("{}: {} bytes\n", options.output, std::filesystem::file_size(options.output));
}

}  // namespace tenon::cli
