// Scheduling for GPUs: a lowered kernel becomes one of blocks and threads. Work items of the grid
// are blocks; inside of one, phases of threads (`together`) alternate with barriers, combinations
// and tiles. Every lowered kernel has such a schedule.
#pragma once

#include "schedule/precision.h"
#include "schedule/schedule.h"

namespace tenon::schedule {

// What the analytic model knows of a GPU.
struct GpuTarget {
  int64_t shared_bytes = 48 * 1024;  // of a block, for rows
  int64_t tile_shared_bytes =
      99 * 1024;                  // likewise, for staged tiles: what every GPU since 8.0 has
  int64_t multiprocessors = 128;  // that want work
  Precision precision = Precision::F32;
};

Scheduled schedule_for_gpu(const kernel::Kernel& lowered, const GpuTarget& target);

}  // namespace tenon::schedule
