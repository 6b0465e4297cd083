// What fusion is told.
#pragma once

#include <string>
#include <vector>

namespace tenon {

// How blocks become a graph. Both ways give the same numbers and the same kernels.
enum class FusionPolicy {
  Direct,   // a block is the fused ops that have kernels of their own
  Fusable,  // a block is primitives (matmul, add, reduce_mean, ...), which the passes fuse again
};

struct FusionOptions {
  FusionPolicy policy = FusionPolicy::Direct;  // of blocks
  std::vector<std::string> skip = {};          // passes not to run, by name: "fuse_attention"
  bool operator==(const FusionOptions&) const = default;
};

}  // namespace tenon
