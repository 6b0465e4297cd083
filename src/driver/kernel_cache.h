// Machine code of kernels, kept for the process: kernels that are equal but for names are compiled
// once within and across graphs, by one thread while others that need them wait.
#pragma once

#include <string>

#include "cache/memory_store.h"
#include "program/program.h"

namespace tenon::driver {

// Keys: the generator, the instruction set, the kernel's canonical text. As many entries as
// TENON_KERNEL_CACHE_MAX says.
using KernelCache = cache::MemoryStore<std::string, const program::Code>;
KernelCache& kernel_cache();

}  // namespace tenon::driver
