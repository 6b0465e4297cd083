// CompiledGraph::receipt: runs as they are and runs step by step take turns, between two
// measurements of what the machine does at best.
#include "measure/receipt.h"

#include <chrono>

#include "base/error.h"
#include "compiled/impl.h"

namespace tenon {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kFewestRuns = 5;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::vector<int64_t> sizes_of(const MachineLimits& limits) {
  std::vector<int64_t> sizes;
  for (const MemoryLimit& level : limits.memory) sizes.push_back(level.bytes);
  return sizes;
}

}  // namespace

RunReceipt CompiledGraph::receipt(const NamedInputs& inputs, const ReceiptOptions& options) {
  Impl& impl = this->impl();
  const Impl::Settled settled(impl);
  if (impl.device.kind() != Device::Kind::Cpu)
    throw Error(
        ErrorKind::Unsupported,
        fmt::format("[receipt] {}: only kernels of the CPU are measured", to_string(impl.device)));
  if (!(options.seconds >= 0) || !(options.slice_ms > 0))
    throw user_error("[receipt] {} seconds of runs, slices of {} ms: that makes no sense",
                     options.seconds, options.slice_ms);
  // What runs left in states is as it was before: each measures the same.
  const auto run = [&](runtime::StepObserver* observer) {
    runtime::Executor& bound = impl.bind(inputs, {});
    const auto begin = Clock::now();
    compiled::check(impl.block.run(bound, impl.rows, {.observer = observer}), bound);
    const double seconds = seconds_since(begin);
    bound.take_back();
    return seconds * 1e3;
  };
  run(nullptr);  // weights are made ready
  const int threads = impl.executor().threads();
  const MachineLimits before = measure_machine_limits(threads, options.slice_ms);
  measure::RunProfile profile(sizes_of(before));
  for (int i = 0; i < 2; ++i) {
    profile.trace_next();
    run(&profile);
  }
  std::vector<double> milliseconds;
  const auto start = Clock::now();
  for (int i = 0; i < kFewestRuns || seconds_since(start) < options.seconds; ++i) {
    milliseconds.push_back(run(nullptr));
    profile.time_next();
    run(&profile);
  }
  RunReceipt receipt =
      measure::make_receipt(profile, before, measure_machine_limits(threads, options.slice_ms));
  receipt.milliseconds = measure::median(std::move(milliseconds));
  return receipt;
}

}  // namespace tenon
