// The store under the caches that lower a model once and compile it for many extents: the template,
// and its entries. Both are kept by the stores that know about threads and order.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "api/compiled_store.h"
#include "api/model_template.h"
#include "base/function_ref.h"
#include "tenon/aot_cache.h"

namespace tenon {

class TemplateStore {
 public:
  using Entry = CompiledStore::Entry;
  using Template = std::shared_ptr<const ModelTemplate>;
  using Build = std::function<ModelSource()>;

  // For messages: `who` has it, `[DynamicDimCompileCache]`, and what an entry is. A User error
  // where it has no room.
  TemplateStore(std::string who, const std::string& entry, const Device& device, size_t capacity,
                std::optional<PrecisionPolicy> policy);

  // The template, which `build` is called for where there is none. A User error where it was
  // planned by other options.
  Template ensure(const Build& build, const CompileOptions& options);
  // The same, where another dispatch policy gives another template, of what the first was made of.
  Template ensure_dispatched(const Build& build, const CompileOptions& options);
  Template find() const { return templates_.find(kFirst); }  // null: there is none

  // The entry of the key; else what the template is for these extents, compiled, through `aot`
  // where it is not null, with the template's parameters. There must be a template: whoever waits
  // for its builder must not have begun an entry that the builder could ask for. A User error where
  // the entry was asked for with another binding or other options.
  Entry specialize(uint64_t key, FunctionRef<Template()> from, const DimBinding& binding,
                   const CompileOptions& options, AotCache* aot = nullptr);
  // The same of a module that was specialized already.
  Entry compile(uint64_t key, const LirModule& lir, const DimBinding& binding,
                const CompileOptions& options);

  CompiledStore& graphs() { return graphs_; }
  Device device() const { return *graphs_.session().defaults().device; }

 private:
  // Then one for each dispatch policy that the first was not planned by.
  static constexpr uint64_t kFirst = 0;

  CompileOptions checked(const CompileOptions& given) const;  // with those of the session
  Template first(const Build& build, const CompileOptions& asked);
  using Compile = FunctionRef<CompiledGraph(const Session& session, const CompileOptions& named)>;
  Entry made(uint64_t key, const DimBinding& binding, const CompileOptions& options,
             Compile compile);
  void check_options(const ModelTemplate& found, const CompileOptions& asked) const;

  const std::string who_;
  cache::MemoryStore<uint64_t, const ModelTemplate> templates_;
  CompiledStore graphs_;
};

}  // namespace tenon
