// How the memory between the steps of a run is planned.
#pragma once

#include <cstdint>

namespace tenon {

enum class PlanMode : uint8_t {
  Arena,     // buffers whose lives do not overlap share memory wherever that cannot cost any
  Remap,     // a buffer takes over a whole one that is free and provably large enough; none grows
  Disabled,  // every buffer has memory of its own, nothing is computed in place
};

struct PlanOptions {
  PlanMode mode = PlanMode::Arena;
  int64_t alignment = 64;  // of buffers: a power of two, 64..4096
  bool operator==(const PlanOptions&) const = default;
};

}  // namespace tenon
