// CompileCache: a key of the caller's is the key of the store.
#include "tenon/compile_cache.h"

#include "api/compiled_store.h"
#include "base/error.h"

namespace tenon {

CompileCache::CompileCache(const Device& device, size_t capacity,
                           std::optional<PrecisionPolicy> policy) {
  if (capacity == 0)
    throw user_error("[CompileCache] a capacity of 0 keeps nothing: at least 1 is needed");
  store_ = std::make_unique<CompiledStore>("[CompileCache] key", device, capacity, policy);
}
CompileCache::~CompileCache() = default;

CompiledHandle CompileCache::compiled(uint64_t key, const CompileOptions& options,
                                      const Compile& compile) {
  return handle_of(store_->compile(key, options, compile));
}

size_t CompileCache::len() const { return store_->size(); }
bool CompileCache::contains(uint64_t key) const { return store_->contains(key); }
void CompileCache::sync_all() { store_->sync_all(); }

uint64_t CompileCache::shape_key(int64_t batch, int64_t seq) {
  constexpr int64_t kMost = 0xFFFF'FFFF;
  if (batch < 0 || batch > kMost || seq < 0 || seq > kMost)
    throw user_error("[shape_key] batch {} and seq {}: both are 0..{}", batch, seq, kMost);
  return static_cast<uint64_t>(batch) << 32 | static_cast<uint64_t>(seq);
}

}  // namespace tenon
