// The store under the caches of compiled graphs: who compiles, and the entries with their options.
// Single flight, eviction and lookups are cache::MemoryStore's.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/cached_graph.h"
#include "cache/memory_store.h"

namespace tenon {

class CompiledStore {
 public:
  using Entry = std::shared_ptr<CachedGraph>;
  using Compile = std::function<CompiledGraph(const Session&)>;

  // `what` an entry is, for messages: `[CompileCache] key`.
  CompiledStore(std::string what, const Device& device, size_t capacity,
                std::optional<PrecisionPolicy> policy);

  // What is there by these options, else what `compile` makes. By other options: a User error.
  Entry compile(uint64_t key, const CompileOptions& options, const Compile& compile);
  Entry find_or_compile(uint64_t key, const Compile& compile);  // by whatever options it is there
  Entry find(uint64_t key) const { return store_.find(key); }   // the same; null: absent

  const Session& session() const { return session_; }  // what compiles

  size_t size() const { return store_.size(); }
  bool contains(uint64_t key) const { return store_.contains(key); }
  void sync_all();  // every entry; then the first Error, if there was one

 private:
  void check_options(uint64_t key, const CachedGraph& entry, const CompileOptions& asked) const;

  const std::string what_;
  const Session session_;
  cache::MemoryStore<uint64_t, CachedGraph> store_;
};

// Of an entry, which the handle keeps.
CompiledHandle handle_of(CompiledStore::Entry entry);

}  // namespace tenon
