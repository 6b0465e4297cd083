// CompiledHandle: a compiled model that a cache and its users hold together.
#pragma once

#include <memory>

#include "tenon/compiled_graph.h"

namespace tenon {

// Stays valid when the cache lets the entry go. The rules of CompiledGraph hold: one thread at a
// time, others take clones.
using CompiledHandle = std::shared_ptr<CompiledGraph>;

}  // namespace tenon
