// Scheduling for CPUs: a lowered kernel becomes one with threads, register tiles, packed panels and
// vectors. What it computes stays the same to the bit: lanes and order of every reduction are fixed
// by the numerics class.
#pragma once

#include <vector>

#include "kernel/kernel.h"
#include "schedule/choice.h"

namespace tenon::schedule {

// What the analytic model knows of a machine.
struct Target {
  std::vector<int64_t> row_steps;  // row counts of a register tile, descending, ending with 1
  int64_t tile_cols;               // columns of a register tile; packed panels have this width
  int64_t l1_bytes;
  int64_t l2_bytes;
  bool dot2 = false;   // it multiplies pairs of bf16
  bool dot4 = false;   // and four bytes at once
  bool plain = false;  // not what is fast is wanted, but what is simple: OptStrategy::Plain
};

Target avx512_target(int64_t l1_bytes, int64_t l2_bytes);
Target avx2_target(int64_t l1_bytes, int64_t l2_bytes);

struct Scheduled {
  kernel::Kernel kernel;
  // Kernels that fill the buffers with Source::Packed: that buffer is the last global one of its
  // pack, the others are arguments with the same source_index as in the lowered kernel.
  std::vector<kernel::Kernel> packs;
  std::vector<Decided> decided;  // of the kernel; packs are as the model says
};

Scheduled schedule(const kernel::Kernel& lowered, const Target& target, const Choice& choice = {});

}  // namespace tenon::schedule
