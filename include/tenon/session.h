// Session: what compiles.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tenon/compile_options.h"
#include "tenon/compiled_graph.h"
#include "tenon/graph.h"
#include "tenon/graph_module.h"
#include "tenon/hir.h"
#include "tenon/lir.h"
#include "tenon/tuning.h"

namespace tenon {

namespace cache {
class DiskStore;
}
namespace driver {
struct Compiled;
struct Lir;
struct Options;
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

  // Searches for the schedules of every kernel, as compile does under OptStrategy::Beam, and
  // compiles nothing else. Where the optimizer is another one the beam has its default width. What
  // is found is kept on disk unless `disk_cache` says false. Stopped by BeamConfig::progress it
  // reports what was tuned until then; compile throws an Error.
  TuningReport tune(const Graph& graph, const CompileOptions& options = {}) const;
  TuningReport tune(const HirModule& module, const CompileOptions& options = {}) const;
  TuningReport tune_onnx(const std::string& path, const CompileOptions& options = {}) const;

  const CompileOptions& defaults() const { return defaults_; }

 private:
  using ReadGraph = std::function<graph::Graph(const driver::Options&)>;
  friend class AotCache;
  friend class TemplateStore;  // of the caches that specialize
  CompiledGraph finish(const ReadGraph& read, const std::map<std::string, int>& marked,
                       const CompileOptions& options) const;
  // Of an optimized graph, whose plan `plan` gives where nothing has it yet.
  CompiledGraph finish_planned(const graph::Graph& graph, const std::function<driver::Lir()>& plan,
                               const CompileOptions& options) const;
  CompileOptions options_beside(const LirModule& lir, const CompileOptions& given) const;
  CompiledGraph specialize(const LirModule& base, const DimBinding& binding,
                           const CompileOptions& given) const;
  static CompiledGraph load(driver::Compiled& compiled, const std::function<driver::Lir()>& plan,
                            const CompileOptions& options);
  std::shared_ptr<cache::DiskStore> store_of(const CompileOptions& options) const;

  CompileOptions defaults_;
  std::shared_ptr<cache::DiskStore> store_;  // null: as the options say
};

}  // namespace tenon
