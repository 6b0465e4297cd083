// Session: what compiles.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tenon/compile_options.h"
#include "tenon/compiled_graph.h"
#include "tenon/graph.h"
#include "tenon/graph_module.h"
#include "tenon/hir.h"
#include "tenon/lir.h"

namespace tenon {

namespace driver {
struct Options;
struct UniqueKernel;
}  // namespace driver
namespace graph {
class Graph;  // the tensor IR
}
namespace program {
struct Program;
}

class Session {
 public:
  Session() = default;
  explicit Session(const Device& device) { defaults_.device = device; }
  explicit Session(CompileOptions defaults) : defaults_(std::move(defaults)) {}

  // The same session, but for what f32 values are stored and multiplied as.
  Session with_policy(PrecisionPolicy policy) const;

  // `options` say what is to be different from the session's own. Parameters without data are to be
  // set on the result, before its first run.
  CompiledGraph compile(const Graph& graph, const CompileOptions& options = {}) const;
  CompiledGraph compile(const HirModule& module, const CompileOptions& options = {}) const;
  CompiledGraph compile(const GraphModule& module, const CompileOptions& options = {}) const;
  // A module is taken as it is: options about anything but threads and specialize must be those it
  // was planned by.
  CompiledGraph compile(const LirModule& lir, const CompileOptions& options = {}) const;
  CompiledGraph compile_onnx(const std::string& path, const CompileOptions& options = {}) const;

  const CompileOptions& defaults() const { return defaults_; }

 private:
  using ReadGraph = std::function<graph::Graph(const driver::Options&)>;
  static CompiledGraph finish(const ReadGraph& read, const std::map<std::string, int>& marked,
                              const CompileOptions& options);
  static CompiledGraph load(program::Program program, int kernels,
                            std::vector<driver::UniqueKernel> scheduled,
                            const CompileOptions& options);
  CompileOptions defaults_;
};

}  // namespace tenon
