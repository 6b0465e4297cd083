// What a target adds to the key of a compile: everything beside the graph and the options that
// decides which code is made.
#pragma once

#include "cache/key.h"
#include "driver/options.h"

namespace tenon::driver {

// The compiler, by its sources; the generator; the CPU's features and caches, or
// what the GPU's code is compiled with. Starts neither LLVM nor CUDA.
void add_target(cache::KeyFields& key, const Options& options);

}  // namespace tenon::driver
