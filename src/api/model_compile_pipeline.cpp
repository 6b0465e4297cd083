// ModelCompilePipeline: extents, or a component, are the key of the store.
#include "tenon/model_compile_pipeline.h"

#include <fmt/ranges.h>

#include "api/component_state.h"
#include "api/driver_options.h"
#include "api/lir_state.h"
#include "api/manifest_of.h"
#include "api/template_store.h"
#include "base/error.h"
#include "driver/environment.h"
#include "legalize/dispatch.h"

namespace tenon {
namespace {

constexpr const char* kWho = "[ModelCompilePipeline]";

// A bijection that scatters (the end of splitmix64).
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

// For this process: a digest would cost more than all else of a hit. The store compares the binding
// of what it finds, so that two bindings with one key would be an Error, never the other's graph.
uint64_t key_of(const DimBinding& binding) {
  uint64_t key = 1;
  for (const auto& [name, value] : binding.values()) {
    key = mixed(key + std::hash<std::string>{}(name));
    key = mixed(key + static_cast<uint64_t>(value));
  }
  return key;
}

// In the place of a builder, where there must be a template by now.
TemplateStore::Build needed_by(const char* call) {
  return [call]() -> ModelSource {
    throw user_error("{} {} needs a template: call build_template first", kWho, call);
  };
}

TemplateStore::Template existing(const TemplateStore& store, const char* call) {
  if (TemplateStore::Template found = store.find()) return found;
  needed_by(call)();
  return nullptr;
}

// The extents it was made for, from this template.
DimBinding binding_of(const LirModule& lir, const ModelTemplate& from) {
  const LirState& state = LirState::of(lir);
  const LirState& base = LirState::of(from.result.lir);
  if (&state == &base && lir.is_fully_static()) return {};
  if (&state == &base)
    throw user_error("{} compile_lir was given the template, {} have no values: call {} first",
                     kWho, fmt::join(lir.dynamic_symbols(), " and "), "specialize_template");
  if (state.template_of.get() != &base)
    throw user_error(
        "{} compile_lir was given a LirModule that is not of this pipeline's template: call "
        "specialize_template first",
        kWho);
  return state.binding;
}

std::string_view name_of(DispatchPolicy policy) {
  return legalize::kDispatchPolicies[static_cast<size_t>(policy)];
}

// With the component's policy, in the place of the one there would be, and with its mode.
CompileOptions options_for(const ModelComponent& component, CompileOptions options) {
  if (component.mode == CompileMode::Aot) options.disk_cache = true;
  if (!component.dispatch) return options;
  if (options.dispatch && options.dispatch->policy != *component.dispatch)
    throw user_error("{} the component says {}, the options say {}: dispatch has one policy", kWho,
                     name_of(*component.dispatch), name_of(options.dispatch->policy));
  options.dispatch = driver::dispatch_options(driver_options(options));
  options.dispatch->policy = *component.dispatch;
  return options;
}

}  // namespace

ModelCompilePipeline::ModelCompilePipeline(const Device& device, size_t capacity)
    : store_(std::make_shared<TemplateStore>(kWho, "graph", device, capacity, std::nullopt)) {}
ModelCompilePipeline::~ModelCompilePipeline() = default;

CompileResult ModelCompilePipeline::made_template(const Build& build,
                                                  const CompileOptions& options) {
  return store_->ensure(build, options)->result;
}

LirModule ModelCompilePipeline::specialize_template(const DimBinding& binding) const {
  return existing(*store_, "specialize_template")->result.lir.specialize(binding);
}

CompiledHandle ModelCompilePipeline::compile_lir(const LirModule& lir,
                                                 const CompileOptions& options) {
  const DimBinding binding = binding_of(lir, *existing(*store_, "compile_lir"));
  return handle_of(store_->compile(key_of(binding), lir, binding, options));
}

CompiledHandle ModelCompilePipeline::compiled(const DimBinding& binding, const Build& build,
                                              const CompileOptions& options) {
  return specialized(key_of(binding), binding, build, options, nullptr);
}

CompiledHandle ModelCompilePipeline::specialized(uint64_t key, const DimBinding& binding,
                                                 const Build& build, const CompileOptions& options,
                                                 AotCache* aot) {
  if (!store_->graphs().contains(key)) store_->ensure(build, options);
  return handle_of(store_->specialize(key, [&] { return store_->find(); }, binding, options, aot));
}

CompiledComponent ModelCompilePipeline::get_or_compile_component(const ModelComponent& component,
                                                                 const CompileOptions& options) {
  return made_component(component, needed_by("get_or_compile_component"), options);
}

CompiledComponent ModelCompilePipeline::made_component(const ModelComponent& component,
                                                       const Build& build,
                                                       const CompileOptions& options) {
  const CompileOptions asked = options_for(component, options);
  const DimBinding binding = component.dim_binding();
  const uint64_t key = component.cache_key();
  const auto from = [&] { return store_->ensure_dispatched(build, asked); };
  const bool is_there = store_->graphs().contains(key);
  if (!is_there && component.mode == CompileMode::Lazy) {
    const LirModule lir = from()->result.lir.specialize(binding);
    const auto compile = [store = store_, key, lir, binding, asked] {
      return store->compile(key, lir, binding, asked);
    };
    return {ComponentHandle(std::make_shared<ComponentHandle::State>(compile)),
            BindingManifest::of(lir)};
  }
  if (!is_there) from();
  CompiledStore::Entry entry = store_->specialize(key, from, binding, asked);
  auto state = std::make_shared<ComponentHandle::State>([entry] { return entry; });
  state->entry();
  return {ComponentHandle(std::move(state)), manifest_of(*entry->program)};
}

BindingManifest ModelCompilePipeline::manifest() const {
  return BindingManifest::of(existing(*store_, "manifest")->result.lir);
}
BindingManifest ModelCompilePipeline::manifest(const DimBinding& binding) const {
  return BindingManifest::of(existing(*store_, "manifest")->result.lir.specialize(binding));
}
BindingManifest ModelCompilePipeline::manifest(const ModelComponent& component,
                                               const CompileOptions& options) const {
  const auto from =
      store_->ensure_dispatched(needed_by("manifest"), options_for(component, options));
  return BindingManifest::of(from->result.lir.specialize(component.dim_binding()));
}

Device ModelCompilePipeline::compile_device() const { return store_->device(); }
size_t ModelCompilePipeline::len() const { return store_->graphs().size(); }
bool ModelCompilePipeline::contains(const DimBinding& binding) const {
  return store_->graphs().contains(key_of(binding));
}
bool ModelCompilePipeline::contains(const ModelComponent& component) const {
  return store_->graphs().contains(component.cache_key());
}
void ModelCompilePipeline::sync_all() { store_->graphs().sync_all(); }

bool ComponentHandle::is_compiled() const { return state_->graph.contains(State::kOnly); }
CompiledHandle ComponentHandle::get() const { return handle_of(state_->entry()); }

}  // namespace tenon
