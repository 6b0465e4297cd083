// One pass over the steps. A life includes the steps at both ends: the items of a step run in
// parallel, so what a step reads must not share memory with what it writes.
#include "plan/liveness.h"

#include "base/error.h"

namespace tenon::plan {
namespace {

using program::BufferKind;
using program::Program;
using program::Step;

void extend_lives(const Step& step, int position, int first_allowed, std::vector<Life>& lives) {
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    if (step.buffers[i].kind != BufferKind::Arena) continue;
    Life& life = lives.at(static_cast<size_t>(step.buffers[i].index));
    if (!life.used()) {
      TENON_CHECK(step.writes.at(i),
                  "[plan] step {} ({}) reads arena buffer {} before any step wrote it", position,
                  step.origin, step.buffers[i].index);
      life.begin = position;
    }
    TENON_CHECK(
        life.begin >= first_allowed,
        "[plan] step {} ({}) reads arena buffer {} of the prologue, which does not outlive it",
        position, step.origin, step.buffers[i].index);
    life.end = position;
  }
}

}  // namespace

std::vector<Life> arena_lives(const Program& program) {
  std::vector<Life> lives(program.arena.size());
  int position = 0;
  for (const Step& step : program.prologue) extend_lives(step, position++, 0, lives);
  const int first_of_run = position;
  for (const Step& step : program.steps) extend_lives(step, position++, first_of_run, lives);
  return lives;
}

}  // namespace tenon::plan
