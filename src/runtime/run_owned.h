// A run whose outputs get memory of their own: the short way where the caller has none to offer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/executor.h"

namespace tenon::runtime {

struct OwnedOutput {
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
};

// Binds the inputs and runs. One per output of the program.
Result<std::vector<OwnedOutput>> run_owned(Executor& executor, std::span<const IoView> inputs,
                                           const RunOptions& options = {});

}  // namespace tenon::runtime
