// Where things lie in the shared memory of a block: its buffers, each as many times as it is
// staged, and what combinations over the whole block exchange.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "kernel/kernel.h"

namespace tenon::codegen::cuda {

inline constexpr int64_t kWarp = 32;

struct SharedLayout {
  explicit SharedLayout(const kernel::Kernel& kernel);

  std::vector<int64_t> offsets;        // per buffer, in bytes; 0 of those that lie elsewhere
  std::vector<int64_t> slot_elements;  // per buffer: from one staged copy to the next
  std::map<const kernel::Combine*, int64_t> exchanges;  // of combinations that cross warps
  int64_t bytes = 0;
};

}  // namespace tenon::codegen::cuda
