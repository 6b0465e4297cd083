// DynamicDimCompileCache: a key of the caller's is the key of the store.
#include "tenon/dynamic_dim_compile_cache.h"

#include "api/template_store.h"

namespace tenon {

DynamicDimCompileCache::DynamicDimCompileCache(const Device& device, size_t capacity,
                                               std::optional<PrecisionPolicy> policy)
    : store_(std::make_unique<TemplateStore>("[DynamicDimCompileCache]", "key", device, capacity,
                                             policy)) {}
DynamicDimCompileCache::~DynamicDimCompileCache() = default;

CompiledHandle DynamicDimCompileCache::specialized(uint64_t key, const DimBinding& binding,
                                                   const Build& build,
                                                   const CompileOptions& options, AotCache* aot) {
  if (!contains(key)) store_->ensure(build, options);
  return handle_of(store_->specialize(key, [&] { return store_->find(); }, binding, options, aot));
}

CompileResult DynamicDimCompileCache::made_template(const Build& build,
                                                    const CompileOptions& options) {
  return store_->ensure(build, options)->result;
}

bool DynamicDimCompileCache::has_template() const { return store_->find() != nullptr; }

std::optional<CompileResult> DynamicDimCompileCache::template_result() const {
  const TemplateStore::Template found = store_->find();
  return found ? std::optional(found->result) : std::nullopt;
}

Device DynamicDimCompileCache::compile_device() const { return store_->device(); }
size_t DynamicDimCompileCache::len() const { return store_->graphs().size(); }
bool DynamicDimCompileCache::contains(uint64_t key) const { return store_->graphs().contains(key); }
void DynamicDimCompileCache::sync_all() { store_->graphs().sync_all(); }

}  // namespace tenon
