// See hazards.h. What a wave touches of one memory is put in order of addresses, at some extents;
// then each range has to be proven to begin where those before it have ended: a few proofs for
// each. Only where that fails every pair is looked at: ranges that have no order at all extents,
// and real hazards.
#include "program/hazards.h"

#include <algorithm>
#include <map>

#include "program/print.h"

namespace tenon::program {
namespace {

// More than models ask for, and less than a moment of work: who writes more wants us to be busy.
constexpr int64_t kMostPairs = 1 << 20;

struct Touched {
  const Step* step;
  int position;  // in the step's buffers
  ByteRange range;
  bool written;
  int64_t sample = 0;     // where it begins, at some extents
  bool in_place = false;  // read, and written over on purpose: whoever writes speaks for it
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

// Not the least: extents of 0 would make one address of many.
int64_t sample(const Dim& begin) {
  const auto value = [](const Symbol& symbol) -> std::optional<int64_t> {
    constexpr int64_t kUsual = 24;
    const Bounds bounds = symbol.bounds();
    return bounds.lo > bounds.hi ? bounds.lo : std::clamp(kUsual, bounds.lo, bounds.hi);
  };
  return begin.evaluate(value).value_or(0);
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

// The larger one, where that can be proven.
bool extend(Dim& end, const Dim& by) {
  if (prove_le(by, end) == Proof::Yes) return true;
  if (prove_le(end, by) != Proof::Yes) return false;
  end = by;
  return true;
}

// In order of addresses: whatever is written begins after all before it has ended, and whatever is
// read after all before it that is written.
bool follow_each_other(std::vector<Touched>& all) {
  std::ranges::sort(all, {}, &Touched::sample);
  Dim end = all[0].range.begin, written_end = end;
  for (const Touched& each : all) {
    if (each.in_place) continue;
    const Dim& before = each.written ? end : written_end;
    if (prove_le(before, each.range.begin) != Proof::Yes) return false;
    if (!extend(end, each.range.end)) return false;
    if (each.written && !extend(written_end, each.range.end)) return false;
  }
  return true;
}

class WaveCheck {
 public:
  explicit WaveCheck(const Program& program) : program_(program) {}

  void add(const Step& step) {
    std::vector<Touched> touched;
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      touched.push_back(
          {&step, static_cast<int>(i), in_memory(program_, step.buffers[i]), step.writes[i]});
      touched.back().sample = sample(touched.back().range.begin);
    }
    for (const auto& [result, operand] : step.in_place) {
      const Touched& written = touched[static_cast<size_t>(result)];
      Touched& read = touched[static_cast<size_t>(operand)];
      read.in_place |= written.written && !read.written && written.range.root == read.range.root &&
                       written.range.begin == read.range.begin &&
                       prove_le(read.range.end, written.range.end) == Proof::Yes;
    }
    for (Touched& each : touched) {
      const BufferRef root = each.range.root;
      touched_[{root.kind, root.index}].push_back(std::move(each));
    }
  }

  // Of the steps since the last call.
  Status end_wave() {
    for (auto& [root, all] : touched_) {
      if (std::ranges::none_of(all, &Touched::written) || follow_each_other(all)) continue;
      if (Status status = check_pairs(all); !status.ok()) return status;
    }
    touched_.clear();
    return {};
  }

 private:
  Status check_pairs(const std::vector<Touched>& all) {
    const auto count = static_cast<int64_t>(all.size());
    pairs_ += count * count;
    if (pairs_ > kMostPairs) {
      return internal_error(
          "[program] step '{}' and others of its wave touch {} parts of {}, of "
          "which it cannot be told which comes first",
          all[0].step->origin, count, name(all[0]));
    }
    for (size_t i = 0; i < all.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!overlap(all[i], all[j]) || is_allowed(all[i], all[j])) continue;
        return internal_error("[program] step '{}' touches bytes of {}, and so does '{}'",
                              all[i].step->origin, name(all[i]), all[j].step->origin);
      }
    }
    return {};
  }

  std::string name(const Touched& touched) const {
    return describe(program_, touched.step->buffers[static_cast<size_t>(touched.position)]);
  }

  const Program& program_;
  std::map<std::pair<BufferKind, int>, std::vector<Touched>> touched_;
  int64_t pairs_ = 0;  // of all waves
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
      if (!step.with_previous) {
        if (Status status = wave.end_wave(); !status.ok()) return status;
      }
      wave.add(step);
    }
    if (Status status = wave.end_wave(); !status.ok()) return status;
  }
  return {};
}

}  // namespace tenon::program
