#include "runtime/cuda/recorded_launches.h"

namespace tenon::runtime::cuda {
namespace {

constexpr int kThreadLocal = 1;  // other threads' calls do not disturb the recording

}  // namespace

Status RecordedLaunches::record(FunctionRef<Status()> launches) {
  clear();
  const Driver& driver = stream_.gpu().driver();
  void* graph = nullptr;
  if (Status status = driver.check(driver.capture_begin(stream_.handle(), kThreadLocal),
                                   "cuStreamBeginCapture");
      !status.ok())
    return status;
  Status launched = launches();
  const int ended = driver.capture_end(stream_.handle(), &graph);
  int made = ended;
  if (launched.ok() && ended == kSuccess) made = driver.graph_instantiate(&executable_, graph, 0);
  if (graph) driver.graph_destroy(graph);
  if (made != kSuccess) executable_ = nullptr;
  if (!launched.ok()) return launched;
  return driver.check(made, "cuGraphInstantiate");
}

Status RecordedLaunches::replay() {
  const Driver& driver = stream_.gpu().driver();
  return driver.check(driver.graph_launch(executable_, stream_.handle()), "cuGraphLaunch");
}

void RecordedLaunches::clear() noexcept {
  if (!executable_) return;
  const Current current(stream_.gpu());
  stream_.gpu().driver().stream_synchronize(stream_.handle());  // it may be running
  stream_.gpu().driver().graph_exec_destroy(executable_);
  executable_ = nullptr;
}

}  // namespace tenon::runtime::cuda
