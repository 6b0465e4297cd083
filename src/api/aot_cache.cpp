// AotCache: a Session that keeps what it compiles in a store of its own.
#include "tenon/aot_cache.h"

#include "api/compile_key.h"
#include "api/disk_cache.h"
#include "api/driver_options.h"
#include "api/graph_state.h"
#include "api/lir_state.h"
#include "base/knobs.h"
#include "cache/disk_store.h"
#include "cache/folder.h"
#include "graph/specialize.h"
#include "import/onnx/onnx.h"

namespace tenon {
namespace {

AotCache::Entry entry_of(const cache::DiskStore::Entry& from) {
  AotCache::Entry entry{.bytes = from.bytes, .last_use = from.last_use};
  for (const auto& [name, value] : from.key.fields()) entry.key.push_back({name, value});
  return entry;
}

std::string value_of(const cache::KeyFields& key, const std::string& field) {
  const std::string* value = key.find(field);
  return value ? *value : std::string();
}

AotCache::Why why_of(const cache::DiskStore& store, const cache::KeyFields& key) {
  AotCache::Why why;
  const std::optional<cache::DiskStore::Entry> nearest = store.nearest(key);
  if (!nearest) return why;
  why.nearest = entry_of(*nearest);
  for (const std::string& field : cache::differing(key, nearest->key))
    why.differences.push_back({field, value_of(key, field), value_of(nearest->key, field)});
  why.found = why.differences.empty();
  return why;
}

AotCache::Why why_of(const cache::DiskStore& store, graph::Graph graph,
                     const graph::BucketAxes& marked, const CompileOptions& options) {
  if (!options.dim_binding.empty()) graph = graph::specialize(graph, options.dim_binding.values());
  driver::Options how = driver_options(options);
  how.bucket_axes = marked;
  return why_of(store, compile_key(KeyOf::Graph, graph, how, options));
}

}  // namespace

AotCache::AotCache(const std::string& folder, uint64_t max_bytes)
    : store_(std::make_shared<cache::DiskStore>(
          cache::DiskStoreOptions{.folder = folder.empty() ? cache::default_folder() : folder,
                                  .max_bytes = max_bytes == 0 ? knobs().cache_max : max_bytes})) {
  session_.store_ = store_;
}

CompiledGraph AotCache::specialize_cached(const LirModule& base, const DimBinding& binding,
                                          const CompileOptions& options) {
  return session_.specialize(base, binding, options);
}

std::string AotCache::Entry::value(const std::string& field) const {
  for (const Field& each : key) {
    if (each.name == field) return each.value;
  }
  return {};
}

std::vector<AotCache::Entry> AotCache::entries() const {
  std::vector<Entry> entries;
  for (const cache::DiskStore::Entry& entry : store_->entries()) entries.push_back(entry_of(entry));
  return entries;
}

AotCache::Why AotCache::why_onnx(const std::string& path, const CompileOptions& given) const {
  const CompileOptions options = with_profile(given);
  return why_of(*store_, onnx::import_file(path, {.dim_bounds = options.dim_bounds}), {}, options);
}

AotCache::Why AotCache::why(const Graph& graph, const CompileOptions& given) const {
  const CompileOptions options = with_profile(given);
  check_dim_bounds(options);
  const GraphState& state = GraphState::of(graph);
  return why_of(*store_, state.graph, state.bucket_axes, options);
}

std::vector<AotCache::Damaged> AotCache::verify(bool remove_damaged) {
  std::vector<Damaged> damaged;
  for (const auto& [file, reason] : store_->verify(remove_damaged))
    damaged.push_back({file, reason});
  return damaged;
}

void AotCache::clear() { store_->clear(); }
const std::string& AotCache::folder() const { return store_->folder(); }
bool AotCache::usable() const { return store_->usable(); }

}  // namespace tenon
