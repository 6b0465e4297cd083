// Greedy by size: the largest buffer first (at a typical shape), each to the beginning of the first
// slot that is free during its life and holds it at every shape, else to the end of one that has
// room there beside what lives at its beginning. Since later buffers are smaller, slots seldom
// grow. Where neither size is provably the larger but both depend on the same symbols, the slot
// becomes the maximum of the two: never more than two slots.
#include "plan/plan_arena.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "base/error.h"
#include "plan/in_place.h"
#include "plan/liveness.h"
#include "plan/typical.h"
#include "plan/waves.h"

namespace tenon::plan {
namespace {

using program::ArenaPlan;
using program::Program;

// Bound the work per buffer when very many are alive at once: n buffers cost at most kSlotsTried *
// n * log n, and kProofsTried * n proofs.
constexpr int kSlotsTried = 256;
constexpr int kProofsTried = 16;
constexpr int kMostMaxima = 4;  // sizes must stay short: they are compared with many

// The buffers at one end of a slot; their lives are disjoint.
class SlotEnd {
 public:
  struct Tenant {
    int until;  // the end of its life
    Dim bytes;
  };

  bool is_free(const Life& life) const { return first_alive(life) == tenants_.end(); }
  void add(const Life& life, const Dim& bytes) {
    tenants_.emplace(life.begin, Tenant{life.end, bytes});
  }
  // Whether `fits` holds of all that live at some time of `life`; of too many to ask it does not.
  template <typename Fits>
  bool all_alive(const Life& life, Fits fits) const {
    auto at = first_alive(life);
    for (int asked = 0; at != tenants_.end() && at->first <= life.end; ++at, ++asked) {
      if (asked == kTenantsAsked || !fits(at->second)) return false;
    }
    return true;
  }

 private:
  static constexpr int kTenantsAsked = 8;
  using Tenants = std::map<int, Tenant>;  // by the beginning of their lives

  Tenants::const_iterator first_alive(const Life& life) const {
    auto at = tenants_.lower_bound(life.begin);
    if (at != tenants_.begin() && std::prev(at)->second.until >= life.begin) return std::prev(at);
    return at != tenants_.end() && at->first <= life.end ? at : tenants_.end();
  }

  Tenants tenants_;
};

struct Slot {
  Dim bytes;
  int stage;
  std::vector<Symbol> symbols;
  SlotEnd front, back;
  int maxima = 0;  // that its size is made of
};

std::vector<size_t> largest_first(const std::vector<Dim>& sizes, const std::vector<Life>& lives) {
  std::vector<double> typical_sizes(sizes.size());
  std::transform(sizes.begin(), sizes.end(), typical_sizes.begin(), typical);
  std::vector<size_t> order;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (lives[i].used()) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return typical_sizes[a] > typical_sizes[b]; });
  return order;
}

// Which of two sizes is provably the larger. Models have few sizes, and proofs are long: each is
// done once.
class SizeOrder {
 public:
  bool at_most(const Dim& a, const Dim& b) {
    auto& known = at_most_[a];
    const auto [found, fresh] = known.try_emplace(b, false);
    if (fresh) found->second = prove_le(a, b) == Proof::Yes;
    return found->second;
  }

 private:
  std::unordered_map<Dim, std::unordered_map<Dim, bool>> at_most_;
};

// The slot's size after it also holds a buffer of `bytes`; nullopt where sharing could cost memory.
std::optional<Dim> shared_size(const Slot& slot, const Dim& bytes,
                               const std::vector<Symbol>& symbols, Mode mode, SizeOrder& order) {
  if (slot.bytes == bytes || order.at_most(bytes, slot.bytes)) return slot.bytes;
  if (mode == Mode::Remap) return std::nullopt;
  if (order.at_most(slot.bytes, bytes)) return bytes;
  if (slot.symbols != symbols || slot.maxima == kMostMaxima) return std::nullopt;
  return max(slot.bytes, bytes);
}

// Where a buffer lies: at the front or the back of a slot.
struct Home {
  size_t slot;
  bool at_back = false;
};

class Slots {
 public:
  explicit Slots(Mode mode) : mode_(mode) {}

  Home take(const Dim& bytes, int stage, const Life& life, PlanCost& cost) {
    const Home home = choose(bytes, stage, life, cost);
    Slot& slot = slots_[home.slot];
    (home.at_back ? slot.back : slot.front).add(life, bytes);
    return home;
  }
  const std::vector<Slot>& all() const { return slots_; }

 private:
  Home choose(const Dim& bytes, int stage, const Life& life, PlanCost& cost) {
    const size_t tried = mode_ == Mode::Disabled ? 0 : std::min<size_t>(slots_.size(), kSlotsTried);
    int proofs = 0;
    for (size_t i = 0; i < tried && proofs < kProofsTried; ++i) {
      ++cost.slots_tried;
      if (slots_[i].stage != stage || !slots_[i].front.is_free(life)) continue;
      ++proofs;
      if (takes_front(slots_[i], bytes, life)) return {i};
    }
    proofs = 0;
    for (size_t i = 0; mode_ == Mode::Arena && i < tried && proofs < kProofsTried; ++i) {
      ++cost.slots_tried;
      if (slots_[i].stage != stage || !slots_[i].back.is_free(life)) continue;
      ++proofs;
      if (takes_back(slots_[i], bytes, life)) return {i, true};
    }
    slots_.push_back({.bytes = bytes, .stage = stage, .symbols = bytes.symbols()});
    return {slots_.size() - 1};
  }

  bool takes_front(Slot& slot, const Dim& bytes, const Life& life) {
    const std::optional<Dim> shared = shared_size(slot, bytes, bytes.symbols(), mode_, order_);
    if (!shared || !fits_beside(slot.back, bytes, life, *shared)) return false;
    if (!(*shared == slot.bytes || *shared == bytes)) ++slot.maxima;
    slot.bytes = *shared;
    slot.symbols = shared->symbols();
    return true;
  }

  bool takes_back(const Slot& slot, const Dim& bytes, const Life& life) {
    return order_.at_most(bytes, slot.bytes) && fits_beside(slot.front, bytes, life, slot.bytes);
  }

  bool fits_beside(const SlotEnd& others, const Dim& bytes, const Life& life, const Dim& whole) {
    return others.all_alive(life, [&](const SlotEnd::Tenant& other) {
      return order_.at_most(bytes + other.bytes, whole);
    });
  }

  Mode mode_;
  SizeOrder order_;
  std::vector<Slot> slots_;
};

void lay_out(const std::vector<Slot>& slots, int stages, ArenaPlan& plan) {
  plan.slot_bytes.clear();
  plan.slot_offsets.clear();
  plan.slot_stages.clear();
  plan.stage_bytes.assign(static_cast<size_t>(stages), 0);
  plan.bytes = 0;
  for (const Slot& slot : slots) {
    Dim& used = plan.stage_bytes[static_cast<size_t>(slot.stage)];
    plan.slot_bytes.push_back(slot.bytes);
    plan.slot_offsets.push_back(used);
    plan.slot_stages.push_back(slot.stage);
    used = used + slot.bytes;
    plan.bytes = plan.bytes + slot.bytes;
  }
}

void check(const Options& options) {
  const int64_t alignment = options.alignment;
  const bool power_of_two = alignment > 0 && (alignment & (alignment - 1)) == 0;
  if (!power_of_two || alignment < kLeastAlignment || alignment > kMostAlignment) {
    throw user_error("[plan] an alignment of {} bytes: a power of two from {} to {} is needed",
                     alignment, kLeastAlignment, kMostAlignment);
  }
}

}  // namespace

std::optional<Mode> parse_mode(std::string_view text) {
  const auto found = std::ranges::find(kModes, text);
  if (found == std::end(kModes)) return std::nullopt;
  return static_cast<Mode>(found - kModes);
}

PlanCost plan_arena(Program& program, const Options& options) {
  check(options);
  PlanCost cost;
  cost.comparisons = find_waves(program);
  if (options.mode != Mode::Disabled) overwrite_operands(program);
  program.plan.alignment = options.alignment;
  const std::vector<Life> lives = arena_lives(program, timeline(program));
  std::vector<Dim> sizes;
  for (program::ArenaBuffer& buffer : program.arena) {
    sizes.push_back(round_up(buffer.bytes, program.plan.alignment));
    buffer.slot = -1;
    buffer.offset = 0;
  }

  const program::Stages stages(program);
  Slots slots(options.mode);
  std::vector<size_t> at_back;
  program.plan.unshared_bytes = 0;
  for (const size_t i : largest_first(sizes, lives)) {
    const Home home = slots.take(sizes[i], stages.of(sizes[i]), lives[i], cost);
    program.arena[i].slot = static_cast<int>(home.slot);
    if (home.at_back) at_back.push_back(i);
    program.plan.unshared_bytes = program.plan.unshared_bytes + sizes[i];
  }
  for (const size_t i : at_back) {
    const auto slot = static_cast<size_t>(program.arena[i].slot);
    program.arena[i].offset = slots.all()[slot].bytes - sizes[i];
  }
  for (program::ArenaBuffer& buffer : program.arena) {
    const bool inside = buffer.view && buffer.view->root.kind == program::BufferKind::Arena;
    if (inside) buffer.slot = program.arena[static_cast<size_t>(buffer.view->root.index)].slot;
  }
  lay_out(slots.all(), stages.count(), program.plan);
  return cost;
}

Figures figures(const Program& program) {
  Figures result;
  result.arena_size = program.plan.bytes;
  result.total_unshared_bytes = program.plan.unshared_bytes;
  result.bytes_saved = result.total_unshared_bytes - result.arena_size;
  std::vector<bool> taken(program.plan.slot_bytes.size());
  for (const program::ArenaBuffer& buffer : program.arena) {
    const bool own = !buffer.view && buffer.slot >= 0;
    if (!own) continue;
    if (taken[static_cast<size_t>(buffer.slot)]) ++result.buffers_reused;
    taken[static_cast<size_t>(buffer.slot)] = true;
  }
  return result;
}

}  // namespace tenon::plan
