// See run_profile.h.
#include "measure/run_profile.h"

#include <algorithm>
#include <numeric>

namespace tenon::measure {

using runtime::StepList;

RunProfile::RunProfile(std::vector<int64_t> levels)
    : levels_(std::move(levels)), reuse_(levels_[levels_.size() - 2]) {}

void RunProfile::trace_next() {
  tracing_ = true;
  for (StepProfile& step : steps_) {
    step.launches = 0;
    step.flops = step.bytes = 0;
    step.moved = {std::vector<double>(levels_.size()), std::vector<double>(levels_.size())};
  }
}

void RunProfile::time_next() {
  tracing_ = false;
  for (StepProfile& step : steps_) step.milliseconds.push_back(0);
}

void RunProfile::begins(const StepList& steps, const runtime::Variables& variables,
                        std::span<const int64_t> values) {
  if (!tracing_) return;
  const auto [it, fresh] = sizes_.try_emplace(&steps);
  Sizes& sizes = it->second;
  if (fresh) {
    sizes.dims = runtime::DimTable(variables);
    for (int i = 0; i < steps.size(); ++i) {
      std::vector<int>& positions = sizes.of_step.emplace_back();
      for (const program::BufferRef& ref : steps.step(i).buffers) {
        const program::ByteRange range = program::byte_range(steps.program(), ref);
        positions.push_back(sizes.dims.add(range.end - range.begin));
      }
    }
  }
  static_cast<void>(sizes.dims.evaluate(values));  // the run has computed with them before
}

void RunProfile::ran(const StepList& steps, int index, runtime::StepClock::time_point begin,
                     runtime::StepClock::time_point end) {
  StepProfile& step = profile(steps, index);
  if (tracing_) {
    trace(steps, index, step);
  } else if (!step.milliseconds.empty()) {
    step.milliseconds.back() += std::chrono::duration<double, std::milli>(end - begin).count();
  }
}

// A branch may take other steps in one run than in another.
StepProfile& RunProfile::profile(const StepList& steps, int index) {
  const program::Step& step = steps.step(index);
  const auto [it, fresh] = numbers_.try_emplace(&step, steps_.size());
  if (fresh) {
    steps_.push_back(
        {.step = &step, .code = steps.program().code[static_cast<size_t>(step.code)].get()});
    steps_.back().moved = {std::vector<double>(levels_.size()),
                           std::vector<double>(levels_.size())};
    if (!tracing_) steps_.back().milliseconds.push_back(0);
  }
  return steps_[it->second];
}

// What a step reads less than its operands have (a few rows of a table, as a rule) is missing from
// the largest of them.
std::vector<int64_t> RunProfile::touched_bytes(const StepList& steps, int index) const {
  const Sizes& sizes = sizes_.at(&steps);
  std::vector<int64_t> bytes;
  for (const int position : sizes.of_step[static_cast<size_t>(index)])
    bytes.push_back(std::max<int64_t>(sizes.dims[position], 0));
  int64_t excess = std::accumulate(bytes.begin(), bytes.end(), int64_t{0}) - steps.bytes(index);
  while (excess > 0) {
    const auto largest = std::ranges::max_element(bytes);
    if (largest == bytes.end() || *largest == 0) break;
    const int64_t less = std::min(excess, *largest);
    *largest -= less;
    excess -= less;
  }
  return bytes;
}

void RunProfile::trace(const StepList& steps, int index, StepProfile& profile) {
  ++profile.launches;
  profile.flops += static_cast<double>(steps.flops(index));
  const auto needed = static_cast<double>(steps.bytes(index));
  profile.bytes += needed;
  const std::vector<int64_t> bytes = touched_bytes(steps, index);
  const auto touched = static_cast<double>(std::accumulate(bytes.begin(), bytes.end(), int64_t{0}));
  if (touched <= 0) return;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const auto at = reinterpret_cast<uintptr_t>(steps.pointers(index)[i]);
    std::vector<double>& moved =
        steps.step(index).writes[i] ? profile.moved.written : profile.moved.read;
    reuse_.touch(at, at + static_cast<uintptr_t>(bytes[i]), [&](int64_t part, int64_t since) {
      moved[level_of(since)] += static_cast<double>(part) * needed / touched;
    });
  }
}

size_t RunProfile::level_of(int64_t since) const {
  for (size_t level = 0; level + 1 < levels_.size(); ++level) {
    if (since <= levels_[level]) return level;
  }
  return levels_.size() - 1;
}

}  // namespace tenon::measure
