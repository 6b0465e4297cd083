// What fusion is told.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tenon {

// How blocks of a HirModule become a graph. Both ways give the same numbers and kernels.
enum class FusionPolicy {
  Direct,   // a block is the fused ops that have kernels of their own
  Fusable,  // a block is primitives (matmul, add, reduce_mean, ...), which the passes fuse again
};

// How much is computed inside of one kernel; what is more becomes several, with the same numbers.
// 0: no limit. Where no limits are given, those of the target hold: 128 steps and 64 inputs on CPUs
// and GPUs, which only models with very long formulas reach.
struct FusionLimits {
  int max_steps = 0;   // elementwise ops that one element goes through
  int max_inputs = 0;  // tensors read for it
  bool operator==(const FusionLimits&) const = default;
};

struct FusionOptions {
  std::optional<FusionPolicy> policy = {};  // of a HirModule's blocks alone; absent: Direct
  std::optional<FusionLimits> limits = {};  // absent: the target's
  // A known pattern that stays written out is an Error with the whole FusionReport.
  std::optional<bool> assert_clean = {};
  // Fusion passes not to run, by name: "fuse_attention", "fold_row_scale". Others are Errors.
  std::optional<std::vector<std::string>> skip = {};
  bool operator==(const FusionOptions&) const = default;
};

}  // namespace tenon
