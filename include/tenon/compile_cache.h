// CompileCache: compiled graphs by a key of the caller's, as many as it has room for.
//
//   tenon::CompileCache cache(tenon::Device::Cpu(), 8);
//   tenon::CompiledHandle graph = cache.get_or_compile(
//       tenon::CompileCache::shape_key(batch, seq), [&] { return model(batch, seq); });
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
#include <utility>

#include "tenon/compiled_handle.h"
#include "tenon/session.h"

namespace tenon {

class CompiledStore;

class CompileCache {
 public:
  // A capacity of 0 is an Error. Without a policy f32 is f32.
  CompileCache(const Device& device, size_t capacity, std::optional<PrecisionPolicy> policy = {});
  ~CompileCache();

  // What `build` returns, compiled: a Graph, a HirModule, a GraphModule or a LirModule. It is
  // called once for a key, however many threads ask. When the cache is full, the entry that came
  // first goes, after the new one was compiled and when its own pending runs have ended. An
  // exception of `build` or of the compiler leaves the cache as it was.
  //
  // What is set on an entry, parameters above all, stays there as long as the entry does.
  template <typename Build>
  CompiledHandle get_or_compile(uint64_t key, Build&& build) {
    return get_or_compile_with_options(key, {}, std::forward<Build>(build));
  }
  // The options belong to the entry: asking for it with others is an Error that names both. The
  // device is the cache's.
  template <typename Build>
  CompiledHandle get_or_compile_with_options(uint64_t key, const CompileOptions& options,
                                             Build&& build) {
    return compiled(key, options,
                    [&](const Session& session) { return session.compile(build(), options); });
  }

  size_t len() const;
  bool is_empty() const { return len() == 0; }
  bool contains(uint64_t key) const;
  // Waits for the pending runs of all entries. Faults that they found are an Error, of the first
  // entry that has one. What another thread uses at the time is left to it.
  void sync_all();

  // batch << 32 | seq. What does not fit 32 bits is an Error.
  static uint64_t shape_key(int64_t batch, int64_t seq);

 private:
  using Compile = std::function<CompiledGraph(const Session&)>;
  CompiledHandle compiled(uint64_t key, const CompileOptions& options, const Compile& compile);

  std::unique_ptr<CompiledStore> store_;
};

}  // namespace tenon
