// See memory_map.h.
#include "plan/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plan/liveness.h"
#include "plan/plan_arena.h"
#include "plan/timeline.h"
#include "plan/typical.h"
#include "program/print.h"

namespace tenon::plan {
namespace {

using program::Program;
using Text = std::back_insert_iterator<std::string>;

constexpr const char* kHostKinds[] = {"define", "if", "loop", "custom"};

class MemoryMap {
 public:
  explicit MemoryMap(const Program& program)
      : program_(program), moments_(timeline(program)), lives_(arena_lives(program, moments_)) {}

  std::string print() {
    print_sizes();
    for (size_t slot = 0; slot < program_.plan.slot_bytes.size(); ++slot) print_slot(slot);
    print_views();
    print_moments();
    return std::move(text_);
  }

 private:
  void print_sizes() {
    const Figures shared = figures(program_);
    fmt::format_to(out_, "sizes{}, alignment {}\n", typical_extents(program_),
                   program_.plan.alignment);
    print_size("arena", shared.arena_size);
    print_size("without sharing", shared.total_unshared_bytes);
    print_size("saved", shared.bytes_saved);
    fmt::format_to(out_, "  buffers that took memory another one had before: {}\n",
                   shared.buffers_reused);
    Dim params = 0, packed = 0;
    for (const program::ParamSlot& slot : program_.params) params = params + slot.type.bytes();
    for (const program::PackedSlot& slot : program_.packed) packed = packed + slot.bytes;
    print_size("parameters", params);
    print_size("packed weights", packed);
  }

  void print_size(const char* what, const Dim& bytes) {
    fmt::format_to(out_, "  {}: {}", what, typical_bytes(bytes));
    if (!bytes.is_const()) fmt::format_to(out_, " = {}", bytes.to_string());
    fmt::format_to(out_, "\n");
  }

  void print_slot(size_t slot) {
    const program::ArenaPlan& plan = program_.plan;
    fmt::format_to(out_, "slot {}: {}, offset {}, size {}", slot,
                   typical_bytes(plan.slot_bytes[slot]), plan.slot_offsets[slot].to_string(),
                   plan.slot_bytes[slot].to_string());
    if (plan.stage_bytes.size() > 1)
      fmt::format_to(out_, ", in the block of stage {}", plan.slot_stages[slot]);
    fmt::format_to(out_, "\n");
    for (const size_t buffer : tenants(static_cast<int>(slot))) print_tenant(buffer);
  }

  // Those whose memory it is, in the order in which they live.
  std::vector<size_t> tenants(int slot) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < program_.arena.size(); ++i) {
      const program::ArenaBuffer& buffer = program_.arena[i];
      if (buffer.slot == slot && !buffer.view) found.push_back(i);
    }
    std::ranges::stable_sort(found, {}, [&](size_t i) { return lives_[i].begin; });
    return found;
  }

  void print_tenant(size_t index) {
    const program::ArenaBuffer& buffer = program_.arena[index];
    const Life& life = lives_[index];
    fmt::format_to(out_, "  {}..{}  arena {}, {} bytes", life.begin, life.end, index,
                   buffer.bytes.to_string());
    if (!buffer.offset.is_const(0)) fmt::format_to(out_, " at {}", buffer.offset.to_string());
    fmt::format_to(out_, "  # {}\n", origin_of(index));
  }

  // Of the step that writes a buffer first.
  const std::string& origin_of(size_t index) const {
    const Moment& moment = moments_[static_cast<size_t>(lives_[index].begin)];
    const program::BufferRef buffer{program::BufferKind::Arena, static_cast<int>(index)};
    for (const program::Step& step : moment.steps) {
      for (const Access& access : accesses_of(step)) {
        if (access.written && root_of(program_, access.buffer) == buffer) return step.origin;
      }
    }
    return moment.origin();
  }

  void print_views() {
    for (size_t i = 0; i < program_.arena.size(); ++i) {
      const auto& view = program_.arena[i].view;
      if (!view) continue;
      fmt::format_to(out_, "arena {} is {} from byte {} on\n", i,
                     program::describe(program_, view->root), view->offset.to_string());
    }
  }

  void print_moments() {
    fmt::format_to(out_, "moments\n");
    for (size_t i = 0; i < moments_.size(); ++i) {
      const Moment& moment = moments_[i];
      if (moment.host)
        fmt::format_to(out_, "  {} {}  # {}\n", i, kHostKinds[static_cast<int>(moment.host->kind)],
                       moment.host->origin);
      for (const program::Step& step : moment.steps)
        fmt::format_to(out_, "  {} {}{}  # {}\n",
                       &step == moment.steps.data() ? std::to_string(i) : "&",
                       moment.in_prologue ? "prologue " : "", step.kind, step.origin);
    }
  }

  const Program& program_;
  std::vector<Moment> moments_;
  std::vector<Life> lives_;
  std::string text_;
  Text out_{text_};
};

}  // namespace

std::string memory_map(const Program& program) { return MemoryMap(program).print(); }

}  // namespace tenon::plan
