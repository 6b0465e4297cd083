// Neighbours only: the order of steps is the graph's. A wave may cost memory, for what one of its
// steps read last cannot hold what another one writes; that is worth it where steps are too small
// to occupy a machine.
#include "plan/waves.h"

#include <algorithm>
#include <map>

#include "plan/liveness.h"
#include "plan/timeline.h"
#include "plan/typical.h"
#include "program/work.h"

namespace tenon::plan {
namespace {

using program::BufferRef;
using program::ByteRange;
using program::Program;
using program::Step;

constexpr int kMostSteps = 16;          // of a wave: bounds the comparisons
constexpr double kSmallStep = 16 * 15;  // microseconds: work for 16 threads

class Waves {
 public:
  explicit Waves(Program& program) : program_(program) {
    for (auto* steps : {&program.prologue, &program.steps}) {
      for (Step& step : *steps) step.with_previous = false;
    }
    lives_ = arena_lives(program, timeline(program));
  }

  int64_t run() {
    int position = 0;
    begin_wave();
    for (Step& step : program_.prologue) add(step, position++);
    begin_wave();
    size_t host = 0;
    const auto& hosts = program_.host_steps;
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      for (; host < hosts.size() && hosts[host].before == static_cast<int>(i); ++host) {
        ++position;
        begin_wave();
      }
      add(program_.steps[i], position++);
    }
    return comparisons_;
  }

 private:
  struct Touched {
    ByteRange range;
    bool written;
  };
  using Key = std::pair<program::BufferKind, int>;

  void begin_wave() {
    size_ = 0;
    touched_.clear();
    frees_memory_ = false;
    small_ = true;
  }

  void add(Step& step, int position) {
    const bool small = is_small(step);
    const bool affordable = (small && small_) || !frees_memory_ || !changes(step, position).begins;
    step.with_previous = size_ > 0 && size_ < kMostSteps && affordable && is_independent(step);
    if (!step.with_previous) begin_wave();
    ++size_;
    small_ = small_ && small;
    frees_memory_ = frees_memory_ || changes(step, position).ends;
    for (const Access& access : accesses_of(step)) {
      const ByteRange range = byte_range(program_, access.buffer);
      touched_[{range.root.kind, range.root.index}].push_back({range, access.written});
    }
  }

  bool is_independent(const Step& step) {
    for (const Access& access : accesses_of(step)) {
      const ByteRange range = byte_range(program_, access.buffer);
      const auto found = touched_.find({range.root.kind, range.root.index});
      if (found == touched_.end()) continue;
      for (const Touched& other : found->second) {
        ++comparisons_;
        if ((access.written || other.written) && !are_disjoint(range, other.range)) return false;
      }
    }
    return true;
  }

  // Whether lives begin or end with the step.
  struct Changes {
    bool begins = false, ends = false;
  };
  Changes changes(const Step& step, int position) const {
    Changes result;
    for (const BufferRef& ref : step.buffers) {
      const BufferRef root = root_of(program_, ref);
      if (root.kind != program::BufferKind::Arena) continue;
      const Life& life = lives_[static_cast<size_t>(root.index)];
      result.begins = result.begins || life.begin == position;
      result.ends = result.ends || life.end == position;
    }
    return result;
  }

  static bool is_small(const Step& step) {
    return program::microseconds(typical(step.flops), typical(step.bytes)) <= kSmallStep;
  }

  Program& program_;
  std::vector<Life> lives_;
  int size_ = 0;
  bool small_ = true, frees_memory_ = false;
  std::map<Key, std::vector<Touched>> touched_;  // by the wave's steps, by root
  int64_t comparisons_ = 0;
};

}  // namespace

int64_t find_waves(Program& program) { return Waves(program).run(); }

}  // namespace tenon::plan
