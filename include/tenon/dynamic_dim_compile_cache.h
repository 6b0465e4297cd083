// DynamicDimCompileCache: one model, compiled for each set of extents that is asked for. It is
// lowered once, with its symbols, to a template; an entry is the template with values for them.
//
//   tenon::DynamicDimCompileCache cache(tenon::Device::Cpu(), 8);
//   tenon::CompiledHandle graph = cache.get_or_specialize(
//       tenon::CompileCache::shape_key(batch, seq), tenon::DimBinding::batch_seq(batch, seq),
//       [&] { return decoder(); });
//   graph->run(inputs);
//
// Every call may be made from any thread, the handles are CompiledGraphs: one thread at a time,
// clones for others. docs/caches.md compares the caches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tenon/aot_cache.h"
#include "tenon/compiled_handle.h"
#include "tenon/model_source.h"
#include "tenon/pipeline.h"

namespace tenon {

class TemplateStore;

class DynamicDimCompileCache {
 public:
  // A capacity of 0 is an Error. Without a policy f32 is f32.
  DynamicDimCompileCache(const Device& device, size_t capacity,
                         std::optional<PrecisionPolicy> policy = {});
  ~DynamicDimCompileCache();

  // The template for these extents, a value for each of its symbols, compiled once for a key,
  // however many threads ask. Where there is no template yet, it is made of what `build` returns: a
  // HirModule, a Graph or a GraphModule, or a pair of one and a ParamStore. When the cache is full,
  // the entry that came first goes, after the new one was compiled and when its own pending runs
  // have ended; the template stays. An exception leaves the cache as it was.
  //
  // Asking for a key with another binding or other options than its entry has is an Error that
  // names both; so are options by which the template would have been another one.
  template <typename Build>
  CompiledHandle get_or_specialize(uint64_t key, const DimBinding& binding, Build&& build,
                                   const CompileOptions& options = {}) {
    return specialized(key, binding, [&]() -> ModelSource { return build(); }, options);
  }
  // The same through a cache on disk: from memory, else from there, else compiled and kept in both.
  // What is there is found by content; `base` is what logs call the model.
  template <typename Build>
  CompiledHandle get_or_specialize_aot(AotCache& aot, const std::string& base, uint64_t key,
                                       const DimBinding& binding, Build&& build,
                                       const CompileOptions& options = {}) {
    return specialized(
        key, binding, [&]() -> ModelSource { return build(); }, merged({.name = base}, options),
        &aot);
  }

  // The template, made where there is none. `build` is called once, however many threads ask; after
  // an exception of it or of the compiler there is none.
  template <typename Build>
  CompileResult ensure_template(Build&& build, const CompileOptions& options = {}) {
    return made_template([&]() -> ModelSource { return build(); }, options);
  }
  bool has_template() const;
  std::optional<CompileResult> template_result() const;

  Device compile_device() const;
  size_t len() const;  // entries; the template is none
  bool is_empty() const { return len() == 0; }
  bool contains(uint64_t key) const;
  // Waits for the pending runs of all entries. Faults that they found are an Error, of the first
  // entry that has one. What another thread uses at the time is left to it.
  void sync_all();

 private:
  using Build = std::function<ModelSource()>;
  CompiledHandle specialized(uint64_t key, const DimBinding& binding, const Build& build,
                             const CompileOptions& options, AotCache* aot = nullptr);
  CompileResult made_template(const Build& build, const CompileOptions& options);

  std::unique_ptr<TemplateStore> store_;
};

}  // namespace tenon
