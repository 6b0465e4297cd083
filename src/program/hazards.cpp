#include "program/hazards.h"

#include <algorithm>
#include <map>

#include "program/print.h"

namespace tenon::program {
namespace {

struct Touched {
  const Step* step;
  int position;  // in the step's buffers
  ByteRange range;
  bool written;
};

// Bytes of an arena buffer as bytes of its slot.
ByteRange in_memory(const Program& program, const BufferRef& ref) {
  ByteRange range = byte_range(program, ref);
  if (range.root.kind == BufferKind::Arena) {
    const ArenaBuffer& root = program.arena[static_cast<size_t>(range.root.index)];
    range = {{BufferKind::Arena, root.slot}, range.begin + root.offset, range.end + root.offset};
  }
  return range;
}

bool overlap(const Touched& a, const Touched& b) {
  return (a.written || b.written) && !are_disjoint(a.range, b.range);
}

bool is_allowed(const Touched& a, const Touched& b) {
  if (a.step != b.step) return false;
  const Touched &written = a.written ? a : b, &read = a.written ? b : a;
  const std::pair<int, int> pair{written.position, read.position};
  return !read.written && written.range.begin == read.range.begin &&
         std::ranges::count(a.step->in_place, pair) > 0;
}

class WaveCheck {
 public:
  explicit WaveCheck(const Program& program) : program_(program) {}

  Status add(const Step& step) {
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      const Touched touched{&step, static_cast<int>(i), in_memory(program_, step.buffers[i]),
                            step.writes[i]};
      auto& others = touched_[{touched.range.root.kind, touched.range.root.index}];
      for (const Touched& other : others) {
        if (!overlap(touched, other) || is_allowed(touched, other)) continue;
        return internal_error("[program] step '{}' touches bytes of {}, and so does '{}'",
                              step.origin, describe(program_, step.buffers[i]), other.step->origin);
      }
      others.push_back(touched);
    }
    return {};
  }
  void begin_wave() { touched_.clear(); }

 private:
  const Program& program_;
  std::map<std::pair<BufferKind, int>, std::vector<Touched>> touched_;
};

}  // namespace

Status verify_hazards(const Program& program) {
  for (const auto* steps : {&program.prologue, &program.steps}) {
    WaveCheck wave(program);
    size_t host = 0;
    for (size_t i = 0; i < steps->size(); ++i) {
      const Step& step = (*steps)[i];
      bool cut = i == 0;
      while (steps == &program.steps && host < program.host_steps.size() &&
             program.host_steps[host].before <= static_cast<int>(i)) {
        cut = true;
        ++host;
      }
      if (cut && step.with_previous) {
        return internal_error("[program] step '{}' has no step before it to run with", step.origin);
      }
      if (!step.with_previous) wave.begin_wave();
      if (Status status = wave.add(step); !status.ok()) return status;
    }
  }
  return {};
}

}  // namespace tenon::program
