// One pass over the moments. A buffer lives as long as its views. A life includes the moments at
// both ends: the items of a step run in parallel, and so do the steps of a wave, so what is read at
// a moment must not share memory with what is written.
#include "plan/liveness.h"

#include "base/error.h"

namespace tenon::plan {

using program::BufferKind;
using program::BufferRef;
using program::Program;

std::vector<Life> arena_lives(const Program& program, std::span<const Moment> moments) {
  std::vector<Life> lives(program.arena.size());
  int first_of_run = 0;
  for (size_t i = 0; i < moments.size(); ++i) {
    const Moment& moment = moments[i];
    const auto position = static_cast<int>(i);
    if (moment.in_prologue) first_of_run = position + 1;
    for (const Access& access : moment.accesses()) {
      const BufferRef root = root_of(program, access.buffer);
      if (root.kind != BufferKind::Arena) continue;
      Life& life = lives.at(static_cast<size_t>(root.index));
      if (!life.used()) {
        // Nothing need write a buffer of no bytes.
        const bool empty = program.arena[static_cast<size_t>(root.index)].bytes.is_const(0);
        TENON_CHECK(access.written || empty,
                    "[plan] step {} ({}) reads arena buffer {} before any step wrote it", position,
                    moment.origin(), root.index);
        life.begin = position;
      }
      TENON_CHECK(
          moment.in_prologue || life.begin >= first_of_run,
          "[plan] step {} ({}) reads arena buffer {} of the prologue, which does not outlive it",
          position, moment.origin(), root.index);
      life.end = position;
    }
  }
  for (const program::IoSlot& output : program.outputs) {
    if (output.late < 0) continue;
    const BufferRef root = root_of(program, {BufferKind::Arena, output.late});
    if (root.kind != BufferKind::Arena) continue;
    lives.at(static_cast<size_t>(root.index)).end = static_cast<int>(moments.size());
  }
  return lives;
}

}  // namespace tenon::plan
