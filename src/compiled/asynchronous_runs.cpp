// Runs that are begun and waited for later. On a device that does everything at once they are runs
// like all others.
#include "base/error.h"
#include "base/thread_pool.h"
#include "compiled/device_id.h"
#include "compiled/impl.h"
#include "runtime/devices.h"
#include "runtime/pipelined_runs.h"

namespace tenon {

using compiled::check;
using compiled::runtime_options;

void CompiledGraph::Impl::settle() {
  if (!pending) return;
  pending = false;
  check(block.finish(*loaded), *loaded);
  pending_log.done(name, *loaded);
}

void CompiledGraph::Impl::settle_unless_used() {
  using compiled::Use;
  Use seen = Use::None;
  if (!use.compare_exchange_strong(seen, Use::Drain, std::memory_order_acquire)) return;
  struct End {
    std::atomic<Use>& use;
    ~End() {
      use.store(Use::None, std::memory_order_release);
      use.notify_all();
    }
  } const end{use};
  settle();
}

void CompiledGraph::commit_no_wait(const NamedInputs& inputs, const RunOptions& options) {
  Impl& impl = this->impl();
  const compiled::Exclusive exclusive(impl.use);
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

// What goes wrong with a set says with which.
Error of_set(size_t set, size_t count, const Error& error) {
  return Error(error.kind(), fmt::format("set {} of {}: {}", set, count, error.what()));
}

template <typename Work>
void in_set(size_t set, size_t count, const Work& work) {
  try {
    work();
  } catch (const Cancelled&) {
    throw;
  } catch (const Error& error) {
    throw of_set(set, count, error);
  }
}

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

void CompiledGraph::Impl::run_in_turn(
    const std::vector<NamedInputs>& sets,
    FunctionRef<Status(size_t set, runtime::Executor& bound)> begin) {
  std::vector<runtime::Executor*> executors = {&executor()};
  take_shared_params();
  const bool in_order = executor().handles().change();  // each begins with what the last one left
  if (executor().works_ahead() && sets.size() > 1 && !in_order)
    executors.push_back(&second_executor());
  block.forget();
  runtime::PipelinedRuns runs(executors);
  const auto check_set = [&](const Status& status) {
    if (status.ok()) return;
    if (runs.failed_on().cancelled()) throw Cancelled();
    throw of_set(runs.failed_set(), sets.size(), status.error());
  };
  for (size_t i = 0; i < sets.size(); ++i) {
    in_set(i, sets.size(), [&] { show(sets[i]); });
    check_set(runs.begin(inputs, [&](runtime::Executor& bound) { return begin(i, bound); }));
  }
  check_set(runs.finish());
}

std::vector<std::vector<OwnedTensor>> CompiledGraph::run_pipelined(
    const std::vector<NamedInputs>& sets, const RunOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  const compiled::RunLog log;
  const runtime::RunOptions wanted = runtime_options(options);
  std::vector<std::vector<OwnedTensor>> results;
  results.reserve(sets.size());
  if (impl.rows.is_set()) {  // rows past the active ones are kept in the block from run to run
    for (size_t i = 0; i < sets.size(); ++i) {
      in_set(i, sets.size(), [&] { impl.run_into_block(impl.bind(sets[i], options), options); });
      results.push_back(compiled::copy_of(impl.block, impl.program->outputs));
    }
  } else {
    std::vector<runtime::OwnedRun> runs(sets.size());
    impl.run_in_turn(
        sets, [&](size_t set, runtime::Executor& bound) { return runs[set].begin(bound, wanted); });
    for (runtime::OwnedRun& run : runs)
      results.push_back(compiled::named(*impl.program, run.take()));
  }
  log.done(impl.name, sets.size());
  return results;
}

void CompiledGraph::run_pipelined_into(const std::vector<NamedInputs>& sets,
                                       const std::vector<NamedOutputs>& outputs,
                                       const RunOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  if (sets.size() != outputs.size())
    throw user_error("[run_pipelined_into] {} sets of inputs, but {} of outputs", sets.size(),
                     outputs.size());
  const compiled::RunLog log;
  const runtime::RunOptions wanted = runtime_options(options);
  if (impl.rows.is_set()) {
    for (size_t i = 0; i < sets.size(); ++i)
      in_set(i, sets.size(), [&] { impl.run_into(sets[i], outputs[i], options); });
  } else {
    std::vector<std::vector<runtime::IoView>> views(sets.size(), impl.outputs);
    for (size_t i = 0; i < sets.size(); ++i) {
      in_set(i, sets.size(), [&] {
        compiled::collect_outputs(impl.program->outputs, outputs[i], impl.executor().handles(),
                                  views[i]);
      });
    }
    impl.run_in_turn(sets, [&](size_t set, runtime::Executor& bound) {
      return bound.commit(views[set], wanted);
    });
  }
  log.done(impl.name, sets.size());
}

}  // namespace tenon
