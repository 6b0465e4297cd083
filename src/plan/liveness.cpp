// One pass over the steps. A buffer lives as long as its views. A life includes the steps at both
// ends: the items of a step run in parallel, so what a step reads must not share memory with what
// it writes.
#include "plan/liveness.h"

#include "base/error.h"

namespace tenon::plan {
namespace {

using program::BufferKind;
using program::Program;
using program::Step;

void extend_lives(const Program& program, const Step& step, int position, int first_allowed,
                  std::vector<Life>& lives) {
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    const program::BufferRef root = root_of(program, step.buffers[i]);
    if (root.kind != BufferKind::Arena) continue;
    Life& life = lives.at(static_cast<size_t>(root.index));
    if (!life.used()) {
      TENON_CHECK(step.writes.at(i),
                  "[plan] step {} ({}) reads arena buffer {} before any step wrote it", position,
                  step.origin, root.index);
      life.begin = position;
    }
    TENON_CHECK(
        life.begin >= first_allowed,
        "[plan] step {} ({}) reads arena buffer {} of the prologue, which does not outlive it",
        position, step.origin, root.index);
    life.end = position;
  }
}

// A host step as far as memory goes.
Step accesses_of(const program::HostStep& host) {
  Step step;
  step.origin = host.origin;
  for (const auto* tensors : {&host.operands, &host.results}) {
    for (const auto& tensor : *tensors) {
      step.buffers.push_back(tensor.buffer);
      step.writes.push_back(tensors == &host.results);
    }
  }
  return step;
}

}  // namespace

std::vector<Life> arena_lives(const Program& program) {
  std::vector<Life> lives(program.arena.size());
  int position = 0;
  for (const Step& step : program.prologue) extend_lives(program, step, position++, 0, lives);
  const int first_of_run = position;
  size_t host = 0;
  for (size_t i = 0; i <= program.steps.size(); ++i) {
    for (;
         host < program.host_steps.size() && program.host_steps[host].before == static_cast<int>(i);
         ++host) {
      extend_lives(program, accesses_of(program.host_steps[host]), position++, first_of_run, lives);
    }
    if (i < program.steps.size())
      extend_lives(program, program.steps[i], position++, first_of_run, lives);
  }
  for (const program::IoSlot& output : program.outputs) {
    if (output.late < 0) continue;
    const program::BufferRef root = root_of(program, {BufferKind::Arena, output.late});
    if (root.kind == BufferKind::Arena) lives.at(static_cast<size_t>(root.index)).end = position;
  }
  return lives;
}

}  // namespace tenon::plan
