// The search for a kernel's fastest schedule. The model's is candidate 0. A round looks at what
// differs in one decision from the `width` fastest so far: what is new is compiled, must give the
// same bits, and is timed in turns with the others. It ends with a round that found nothing faster.
#pragma once

#include <functional>
#include <memory>

#include "driver/backend.h"
#include "tenon/tuning.h"
#include "tune/extents.h"

namespace tenon::tune {

// Makes the code of a candidate. An error: it is dropped.
using CompileCandidate =
    std::function<Result<std::shared_ptr<const program::Code>>(const kernel::Kernel& scheduled)>;

struct SearchOptions {
  int width = 4;
  const BeamConfig& config;
  int threads = 0;  // 0: as many as this process may use
  CompileCandidate compile;
  // After each candidate; false: stop.
  std::function<bool(int tried, double default_ms, double best_ms)> progress;
};

struct Found {
  schedule::Choice choice;  // empty: the default is kept
  double default_ms = 0, tuned_ms = 0;
  int candidates = 0, dropped = 0, rounds = 0;
  double seconds = 0;
  bool stopped = false;  // by `progress`: whatever was found until then is not confirmed
};

// Throws User where the kernel cannot be run on random numbers.
Found search(const kernel::Kernel& lowered, const driver::Backend& backend, const Extents& extents,
             const SearchOptions& options);

}  // namespace tenon::tune
