// An input or output as the runtime sees it: memory of the caller's, with extents and capacities by
// axis.
#pragma once

#include <cstdint>
#include <span>

#include "types/dtype.h"

namespace tenon::runtime {

struct IoView {
  void* data = nullptr;  // inputs are only read
  DType dtype = DType::F32;
  std::span<const int64_t> shape;
  std::span<const int64_t> capacity;  // empty: dense
};

}  // namespace tenon::runtime
