#include "runtime/pipelined_runs.h"

namespace tenon::runtime {

PipelinedRuns::PipelinedRuns(std::span<Executor* const> executors) {
  for (Executor* executor : executors) lanes_.push_back({executor, std::nullopt});
}

PipelinedRuns::~PipelinedRuns() {
  for (Lane& lane : lanes_) static_cast<void>(wait(lane));
}

Status PipelinedRuns::noted(Status status, size_t set, const Lane& lane) {
  if (!status.ok()) {
    failed_set_ = set;
    failed_on_ = lane.executor;
  }
  return status;
}

Status PipelinedRuns::wait(Lane& lane) {
  if (!lane.under_way) return {};
  const size_t set = *lane.under_way;
  lane.under_way.reset();
  return noted(lane.executor->wait(), set, lane);
}

Status PipelinedRuns::begin(std::span<const IoView> inputs,
                            FunctionRef<Status(Executor& executor)> commit) {
  const size_t set = begun_++;
  Lane& lane = lanes_[set % lanes_.size()];
  if (Status status = wait(lane); !status.ok()) return status;
  if (Status status = lane.executor->bind(inputs); !status.ok())
    return noted(std::move(status), set, lane);
  lane.under_way = set;  // also where it does not begin well
  return noted(commit(*lane.executor), set, lane);
}

// The oldest first.
Status PipelinedRuns::finish() {
  for (size_t i = 0; i < lanes_.size(); ++i) {
    if (Status status = wait(lanes_[(begun_ + i) % lanes_.size()]); !status.ok()) return status;
  }
  return {};
}

}  // namespace tenon::runtime
