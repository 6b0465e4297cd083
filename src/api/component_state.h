// What a ComponentHandle holds: one graph, and how it is made.
#pragma once

#include "api/compiled_store.h"
#include "tenon/component_handle.h"

namespace tenon {

struct ComponentHandle::State {
  explicit State(std::function<CompiledStore::Entry()> make) : compile(std::move(make)) {}

  static constexpr uint64_t kOnly = 0;
  CompiledStore::Entry entry() {
    return graph.get_or_make(kOnly, [&] { return compile(); });
  }

  const std::function<CompiledStore::Entry()> compile;
  cache::MemoryStore<uint64_t, CachedGraph> graph{1};
};

}  // namespace tenon
