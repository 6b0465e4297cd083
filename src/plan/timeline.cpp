#include "plan/timeline.h"

namespace tenon::plan {

using program::HostStep;
using program::Program;
using program::Step;

namespace {

// The steps `begin` .. `end` - 1, cut into waves.
void add_waves(std::span<const Step> steps, bool in_prologue, std::vector<Moment>& moments) {
  size_t first = 0;
  for (size_t i = 1; i <= steps.size(); ++i) {
    if (i < steps.size() && steps[i].with_previous) continue;
    moments.push_back({steps.subspan(first, i - first), nullptr, in_prologue});
    first = i;
  }
}

}  // namespace

std::vector<Access> accesses_of(const Step& step) {
  std::vector<Access> accesses;
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    accesses.push_back({step.buffers[i], step.writes.at(i)});
  }
  return accesses;
}

std::vector<Access> Moment::accesses() const {
  std::vector<Access> accesses;
  for (const Step& step : steps) {
    for (const Access& access : accesses_of(step)) accesses.push_back(access);
  }
  if (!host) return accesses;
  for (const HostStep::Tensor& tensor : host->operands) accesses.push_back({tensor.buffer, false});
  for (const HostStep::Tensor& tensor : host->results) accesses.push_back({tensor.buffer, true});
  return accesses;
}

std::vector<Moment> timeline(const Program& program) {
  std::vector<Moment> moments;
  const std::span<const Step> steps(program.steps);
  if (!program.prologue.empty()) add_waves(program.prologue, true, moments);
  size_t begin = 0;
  for (const HostStep& host : program.host_steps) {
    const auto before = static_cast<size_t>(host.before);
    if (begin < before) add_waves(steps.subspan(begin, before - begin), false, moments);
    moments.push_back({{}, &host, false});
    begin = before;
  }
  if (begin < steps.size()) add_waves(steps.subspan(begin), false, moments);
  return moments;
}

}  // namespace tenon::plan
