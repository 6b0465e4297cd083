// See disk_cache.h.
#include "api/disk_cache.h"

#include "api/compile_key.h"
#include "api/driver_options.h"
#include "base/log.h"
#include "driver/failed_graph.h"
#include "driver/stored_compile.h"
#include "graph/host_ops.h"

namespace tenon {

namespace {

// What `compile` makes of the graph, or made for the same key before.
driver::Compiled find_or_compile(cache::DiskStore& store, const cache::KeyFields& key,
                                 const graph::Graph& source,
                                 FunctionRef<driver::Compiled()> compile) {
  std::optional<driver::Compiled> made;
  const cache::Bytes entry = store.get_or_make(key, [&] {
    made = compile();
    return driver::store_compiled(*made, source);
  });
  if (made) return std::move(*made);
  Result<driver::Compiled> found = driver::restore_compiled(entry.data(), source);
  if (found) return std::move(found.value());
  log(LogLevel::Warning, "[cache] an entry of {} is dropped: {}", store.folder(),
      found.error().what());
  store.erase(key);
  return compile();
}

}  // namespace

driver::Compiled compile_graph(const graph::Graph& graph, const driver::Options& how,
                               const CompileOptions& options, cache::DiskStore* store) {
  const auto compile = [&] { return driver::compile_or_save(graph, how); };
  // Who wants to see the stages compiles; a custom function is code of this process.
  if (!store || how.dump || graph::calls_custom(graph)) return compile();
  return find_or_compile(*store, compile_key(KeyOf::Graph, graph, how, options), graph, compile);
}

driver::Compiled compile_planned(const graph::Graph& optimized, FunctionRef<driver::Lir()> plan,
                                 const CompileOptions& options, cache::DiskStore* store) {
  driver::Pipeline pipeline(driver_options(options));
  const auto compile = [&] {
    driver::Lir lir = plan();
    driver::Compiled compiled;
    compiled.kernels = lir.body_kernels + static_cast<int>(lir.kernels.size());
    if (pipeline.options().keep_kernels) compiled.scheduled = lir.kernels;
    compiled.program = pipeline.generate(std::move(lir));
    compiled.kernels_from_cache = compiled.kernels - pipeline.kernels_compiled();
    return compiled;
  };
  if (!store || pipeline.options().dump || graph::calls_custom(optimized)) return compile();
  const auto key = compile_key(KeyOf::Optimized, optimized, pipeline.options(), options);
  return find_or_compile(*store, key, optimized, compile);
}

}  // namespace tenon
