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

// One that was committed: outputs, one per output of the program, are there when the executor has
// been waited for.
class OwnedRun {
 public:
  // The executor has bound its inputs. Where extents of outputs are known by the run alone, it is
  // waited for here.
  Status begin(Executor& executor, const RunOptions& options);
  std::vector<OwnedOutput> take() { return std::move(outputs_); }

 private:
  Status take_late(Executor& executor);
  std::vector<OwnedOutput> outputs_;
  std::vector<IoView> views_;
};

// Binds the inputs, runs and waits.
Result<std::vector<OwnedOutput>> run_owned(Executor& executor, std::span<const IoView> inputs,
                                           const RunOptions& options = {});

}  // namespace tenon::runtime
