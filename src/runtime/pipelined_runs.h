// Runs of several sets of inputs, in turn on executors of one program, each with a stream of its
// own. A set waits for the one before it on its executor, whose outputs arrive then, while copies
// and kernels of the others go on.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "base/result.h"
#include "runtime/executor.h"

namespace tenon::runtime {

class PipelinedRuns {
 public:
  explicit PipelinedRuns(std::span<Executor* const> executors);  // at least one
  ~PipelinedRuns();  // waits: outputs go nowhere while a run may write them
  PipelinedRuns(const PipelinedRuns&) = delete;
  PipelinedRuns& operator=(const PipelinedRuns&) = delete;

  // The next set. `commit` begins its run on the executor, which has bound the inputs; the outputs
  // are there when finish returns.
  Status begin(std::span<const IoView> inputs, FunctionRef<Status(Executor& executor)> commit);
  Status finish();

  // Of the last error: whose it is, which may be one that was begun before, and where it ran.
  size_t failed_set() const { return failed_set_; }
  const Executor& failed_on() const { return *failed_on_; }

 private:
  struct Lane {
    Executor* executor;
    std::optional<size_t> under_way;  // the set
  };
  Status wait(Lane& lane);
  Status noted(Status status, size_t set, const Lane& lane);

  std::vector<Lane> lanes_;
  size_t begun_ = 0;
  size_t failed_set_ = 0;
  const Executor* failed_on_ = nullptr;
};

}  // namespace tenon::runtime
