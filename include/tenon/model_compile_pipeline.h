// ModelCompilePipeline: one model from its description to code for some extents, step by step or in
// one call, with what was compiled kept.
//
//   tenon::ModelCompilePipeline pipeline(tenon::Device::Cpu());
//   pipeline.build_template([&] { return decoder(); });
//   tenon::LirModule lir = pipeline.specialize_template({{"batch", 1}, {"seq", 8}, {"past", 0}});
//   tenon::CompiledHandle graph = pipeline.compile_lir(lir);
//
//   auto [handle, manifest] = pipeline.get_or_compile_component(prefill);
//   handle->run(inputs);
//
// Every call may be made from any thread. docs/caches.md compares it with the caches.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "tenon/aot_cache.h"
#include "tenon/binding_manifest.h"
#include "tenon/component_handle.h"
#include "tenon/model_component.h"
#include "tenon/model_source.h"
#include "tenon/pipeline.h"

namespace tenon {

class TemplateStore;

struct CompiledComponent {
  ComponentHandle handle;
  BindingManifest manifest;
};

class ModelCompilePipeline {
 public:
  // As many graphs as `capacity` are kept; the one that came first goes first. 0 is an Error.
  explicit ModelCompilePipeline(const Device& device, size_t capacity = 8);
  ~ModelCompilePipeline();

  // Step by step. What needs a step that was not done is an Error that says what to call first.
  //
  // The model, lowered and planned with its symbols. It is done once: where there is a template,
  // that is given. `build` is called once, however many threads ask, and returns a HirModule, a
  // Graph or a GraphModule, or a pair of one and a ParamStore, which all graphs use then. Options
  // by which the template would have been another one are an Error. After an exception there is no
  // template.
  template <std::invocable Build>
  CompileResult build_template(Build&& build, const CompileOptions& options = {}) {
    return made_template([&]() -> ModelSource { return build(); }, options);
  }
  CompileResult build_template(const ModelSource& model, const CompileOptions& options = {}) {
    return made_template([&] { return model; }, options);
  }
  // The template for these extents, a value for each of its symbols.
  LirModule specialize_template(const DimBinding& binding) const;
  // What specialize_template gave, compiled once for its extents. Asking for it with other options
  // is an Error that names both.
  CompiledHandle compile_lir(const LirModule& lir, const CompileOptions& options = {});

  // All three in one call.
  template <std::invocable Build>
  CompiledHandle get_or_compile(const DimBinding& binding, Build&& build,
                                const CompileOptions& options = {}) {
    return compiled(binding, [&]() -> ModelSource { return build(); }, options);
  }
  // By a key of yours and through a cache on disk, as DynamicDimCompileCache does it.
  template <std::invocable Build>
  CompiledHandle get_or_specialize_aot(AotCache& aot, const std::string& base, uint64_t key,
                                       const DimBinding& binding, Build&& build,
                                       const CompileOptions& options = {}) {
    return specialized(
        key, binding, [&]() -> ModelSource { return build(); }, merged({.name = base}, options),
        &aot);
  }

  // The component, by its cache_key(): compiled now, or, where its mode says so, when the handle is
  // first used. Where it has a dispatch policy that the template was not planned by, the model is
  // planned for that too, of what `build` returned.
  template <std::invocable Build>
  CompiledComponent get_or_compile_component(const ModelComponent& component, Build&& build,
                                             const CompileOptions& options = {}) {
    return made_component(component, [&]() -> ModelSource { return build(); }, options);
  }
  // After build_template.
  CompiledComponent get_or_compile_component(const ModelComponent& component,
                                             const CompileOptions& options = {});

  // What graphs take and give: of the template, where extents are formulas; for extents; of a
  // component. Nothing is compiled.
  BindingManifest manifest() const;
  BindingManifest manifest(const DimBinding& binding) const;
  BindingManifest manifest(const ModelComponent& component,
                           const CompileOptions& options = {}) const;

  Device compile_device() const;
  size_t len() const;  // compiled graphs
  bool is_empty() const { return len() == 0; }
  bool contains(const DimBinding& binding) const;
  bool contains(const ModelComponent& component) const;
  void sync_all();  // as that of the caches

 private:
  using Build = std::function<ModelSource()>;
  CompileResult made_template(const Build& build, const CompileOptions& options);
  CompiledHandle compiled(const DimBinding& binding, const Build& build,
                          const CompileOptions& options);
  CompiledHandle specialized(uint64_t key, const DimBinding& binding, const Build& build,
                             const CompileOptions& options, AotCache* aot);
  CompiledComponent made_component(const ModelComponent& component, const Build& build,
                                   const CompileOptions& options);

  std::shared_ptr<TemplateStore> store_;  // handles have it too
};

}  // namespace tenon
