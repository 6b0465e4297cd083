// Runs that are begun and waited for later. On a device that does everything at once they are runs
// like all others.
#include "base/error.h"
#include "base/thread_pool.h"
#include "compiled/device_id.h"
#include "compiled/impl.h"
#include "runtime/devices.h"

namespace tenon {

using compiled::check;
using compiled::runtime_options;

void CompiledGraph::Impl::settle() {
  if (!pending) return;
  pending = false;
  check(block.finish(*loaded), *loaded);
  pending_log.done(name, *loaded);
}

void CompiledGraph::commit_no_wait(const NamedInputs& inputs, const RunOptions& options) {
  Impl& impl = this->impl();
  const compiled::Exclusive exclusive(impl.busy);
  const runtime::RunOptions wanted = runtime_options(options);
  runtime::Executor& executor = impl.bind(inputs, options);
  impl.pending = false;  // where this one does not begin, none is left
  impl.pending_log = {};
  const Status begun = impl.block.begin(executor, impl.rows, wanted);
  if (!begun.ok()) static_cast<void>(executor.wait());  // for the one before
  check(begun, executor);
  impl.pending = true;
  // Late outputs lie in the arena, which the next commit may lay out anew.
  if (!executor.works_ahead() || impl.block.has_late()) impl.settle();
}

const std::vector<TensorView>& CompiledGraph::sync_pending() {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  static const std::vector<TensorView> kNone;
  return impl.block.filled() ? impl.block.views() : kNone;
}

namespace {

// Begins to run the sets, in turn on the executors, each of which does its runs in order.
class Pipelined {
 public:
  Pipelined(std::vector<runtime::Executor*> lanes, const runtime::RunOptions& options)
      : lanes_(std::move(lanes)), options_(options) {}
  // Outputs go nowhere while a run may write them.
  ~Pipelined() {
    for (runtime::Executor* lane : lanes_) static_cast<void>(lane->wait());
  }
  Pipelined(const Pipelined&) = delete;
  Pipelined& operator=(const Pipelined&) = delete;

  void begin(std::span<const runtime::IoView> inputs) {
    runtime::Executor& lane = *lanes_[runs_.size() % lanes_.size()];
    lane.bind(inputs).throw_if_error();
    check(runs_.emplace_back().begin(lane, options_), lane);
  }
  std::vector<runtime::OwnedRun> finish() {
    for (runtime::Executor* lane : lanes_) check(lane->wait(), *lane);
    return std::move(runs_);
  }

 private:
  std::vector<runtime::Executor*> lanes_;
  runtime::RunOptions options_;
  std::vector<runtime::OwnedRun> runs_;
};

}  // namespace

runtime::Executor& CompiledGraph::Impl::second_executor() {
  const uint64_t params = executor().params().version();
  if (!second || second_params != params) {
    auto stream = runtime::open_stream(device_id(device), thread_pool()).take();
    second = executor().clone(std::move(stream)).take();
    second->handles().clear();  // it is given views
    second_params = params;
  }
  return *second;
}

std::vector<std::vector<OwnedTensor>> CompiledGraph::run_pipelined(
    const std::vector<NamedInputs>& sets, const RunOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  std::vector<runtime::Executor*> lanes = {&impl.executor()};
  impl.take_shared_params();
  const bool in_order =
      lanes[0]->handles().change();  // each run begins with what the last one left
  if (lanes[0]->works_ahead() && sets.size() > 1 && !in_order)
    lanes.push_back(&impl.second_executor());
  const compiled::RunLog log;
  Pipelined pipelined(std::move(lanes), runtime_options(options));
  impl.block.forget();
  std::vector<std::vector<OwnedTensor>> results;
  for (size_t i = 0; i < sets.size(); ++i) {
    try {
      impl.show(sets[i]);
      if (impl.rows.is_set()) {  // rows past the active ones are kept in the block from run to run
        impl.run_into_block(impl.bind_shown(options), options);
        results.push_back(compiled::copy_of(impl.block, impl.program->outputs));
      } else {
        pipelined.begin(impl.inputs);
      }
    } catch (const Cancelled&) {
      throw;
    } catch (const Error& error) {
      throw Error(error.kind(), fmt::format("set {} of {}: {}", i, sets.size(), error.what()));
    }
  }
  for (runtime::OwnedRun& run : pipelined.finish())
    results.push_back(compiled::named(*impl.program, run.take()));
  log.done(impl.name, sets.size());
  return results;
}

}  // namespace tenon
