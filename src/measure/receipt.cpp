// See receipt.h. The floor of a step is the longer of two times: its operations at the rate of its
// arithmetic, its bytes each at the rate of the level that still has them.
#include "measure/receipt.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include "measure/machine_limits.h"

namespace tenon::measure {
namespace {

struct Floor {
  double milliseconds = 0;
  Bound bound = Bound::Compute;
  std::string limit;
};

constexpr double kNanosecondsPerMillisecond = 1e6;

Floor floor_of(const StepProfile& step, const MachineLimits& limits) {
  const auto kind = static_cast<size_t>(step.step->arithmetic);
  Floor floor{.limit = kArithmetics[kind]};
  const double compute = step.flops / gflops_of(limits, step.step->arithmetic);
  double memory = 0, most = 0;
  size_t slowest = 0;
  for (size_t level = 0; level < limits.memory.size(); ++level) {
    const double time = step.moved.read[level] * read_cost(limits.memory[level]) +
                        step.moved.written[level] * write_cost(limits.memory[level]);
    memory += time;
    if (time > most) most = time, slowest = level;
  }
  floor.milliseconds = std::max(compute, memory) / kNanosecondsPerMillisecond;
  if (memory <= compute) return floor;
  floor.bound = slowest + 1 < limits.memory.size() ? Bound::Cache : Bound::Memory;
  floor.limit = limits.memory[slowest].name;
  return floor;
}

// Equal kernels of different layers are one; what limits it is what limits most of its time.
void add_launch(KernelReceipt& kernel, const StepProfile& step, const Floor& floor,
                double& longest) {
  kernel.name = step.step->kind;
  kernel.arithmetic = kArithmetics[static_cast<size_t>(step.step->arithmetic)];
  kernel.origins.push_back(step.step->origin);
  kernel.launches += step.launches;
  kernel.milliseconds += median(step.milliseconds);
  kernel.flops += step.flops;
  kernel.bytes += step.bytes;
  kernel.floor_ms += floor.milliseconds;
  if (floor.milliseconds < longest) return;
  longest = floor.milliseconds;
  kernel.bound = floor.bound;
  kernel.limit = floor.limit;
}

}  // namespace

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

RunReceipt make_receipt(const RunProfile& profile, const MachineLimits& before,
                        const MachineLimits& after) {
  RunReceipt receipt{.limits = best_of(before, after)};
  std::map<std::tuple<const program::Code*, std::string>, std::pair<size_t, double>> kernels;
  for (const StepProfile& step : profile.steps()) {
    const auto [it, fresh] =
        kernels.try_emplace({step.code, step.step->kind}, std::pair(receipt.kernels.size(), 0.0));
    if (fresh) receipt.kernels.emplace_back();
    auto& [number, longest] = it->second;
    add_launch(receipt.kernels[number], step, floor_of(step, receipt.limits), longest);
  }
  std::vector<std::string> used;
  for (const KernelReceipt& kernel : receipt.kernels) {
    receipt.kernels_ms += kernel.milliseconds;
    receipt.floor_ms += kernel.floor_ms;
    used.push_back(kernel.limit);
  }
  for (KernelReceipt& kernel : receipt.kernels)
    kernel.share_of_run = receipt.kernels_ms > 0 ? kernel.milliseconds / receipt.kernels_ms : 0;
  std::ranges::stable_sort(receipt.kernels, std::greater(), &KernelReceipt::milliseconds);
  receipt.unsteady = differences(before, after, used);
  return receipt;
}

}  // namespace tenon::measure
