// See fix_dims.h. Symbols of loops are bound again, with extents that are numbers: what was unknown
// about an index often follows from them. Loops over nothing are gone, and so are the steps of a
// ladder that its extent never takes, with the code that is specialized for them.
#include "kernel/fix_dims.h"

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "base/error.h"

namespace tenon::kernel {
namespace {

class Fixer {
 public:
  Kernel run(const Kernel& kernel, std::span<const int64_t> values) {
    TENON_CHECK(kernel.level == Level::Scheduled && kernel.dims.size() == values.size(),
                "kernel {}: {} dims, {} values", kernel.name, kernel.dims.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i) bind(kernel.dims[i], values[i]);
    Kernel result = kernel;
    for (Buffer& buffer : result.buffers) buffer.elements = fix(buffer.elements);
    result.flops = fix(kernel.flops);
    result.bytes = fix(kernel.bytes);
    result.body = fix(kernel.body);
    return result;
  }

 private:
  void bind(const Symbol& symbol, Dim value) {
    meanings_.emplace_back(symbol, std::move(value));
    fixed_.clear();
  }
  void forget(size_t bound) {  // all but the first ones
    if (meanings_.size() == bound) return;
    meanings_.erase(meanings_.begin() + static_cast<std::ptrdiff_t>(bound), meanings_.end());
    fixed_.clear();
  }
  std::optional<Dim> meaning(const Symbol& symbol) const {
    for (auto it = meanings_.rbegin(); it != meanings_.rend(); ++it) {
      if (it->first == symbol) return it->second;
    }
    return std::nullopt;
  }
  // The range of a loop over this extent.
  Symbol rebind(const Symbol& symbol, const Dim& extent);

  Dim fix(const Dim& dim);
  std::vector<Guard> fix(std::vector<Guard> guards);
  ExprRef fix(const ExprRef& value);
  Block fix(const Block& block);
  void fix(Loop& loop);
  void fix(Store& store);
  void fix(Let& let);
  void fix(Specialize& specialize);
  void fix(Mma& mma);
  void fix(Prefetch& prefetch) { prefetch.offset = fix(prefetch.offset); }
  static void fix(Barrier&) { no_gpu(); }
  static void fix(Combine&) { no_gpu(); }
  static void fix(TileMma&) { no_gpu(); }
  [[noreturn]] static void no_gpu() { throw internal_error("fix_dims: a statement for GPUs"); }

  std::vector<std::pair<Symbol, Dim>> meanings_;                  // inner ones last
  std::unordered_map<Dim, Dim> fixed_;                            // by these meanings
  std::vector<std::pair<Symbol, std::vector<int64_t>>> ladders_;  // their rows, inner ones last
};

Symbol Fixer::rebind(const Symbol& symbol, const Dim& extent) {
  Symbol range = symbol.extent() ? Symbol::range(symbol.name(), extent) : symbol;
  bind(symbol, extent.is_const(1) ? Dim(0) : Dim(range));
  return range;
}

Dim Fixer::fix(const Dim& dim) {
  if (dim.is_const()) return dim;
  const auto [known, fresh] = fixed_.try_emplace(dim);
  if (fresh)
    known->second = dim.substitute([this](const Symbol& symbol) { return meaning(symbol); });
  return known->second;
}

// Those that always hold are gone.
std::vector<Guard> Fixer::fix(std::vector<Guard> guards) {
  for (Guard& guard : guards) guard = {fix(guard.index), fix(guard.bound)};
  std::erase_if(guards, [](const Guard& guard) {
    return prove_le(0, guard.index) == Proof::Yes &&
           prove_lt(guard.index, guard.bound) == Proof::Yes;
  });
  return guards;
}

ExprRef Fixer::fix(const ExprRef& value) {
  return transform(value, [&](Expr& copy) -> ExprRef {
    copy.index = fix(copy.index);
    copy.bound = fix(copy.bound);
    copy.guards = fix(std::move(copy.guards));
    return nullptr;
  });
}

// Which of the steps are taken, where the extent is known; else those that fit.
std::vector<int64_t> steps_of(const std::vector<int64_t>& steps, const Dim& extent) {
  std::vector<int64_t> taken;
  int64_t left = extent.bounds().hi;
  for (const int64_t step : steps) {
    if (step > left) continue;
    taken.push_back(step);
    if (extent.is_const()) left %= step;
  }
  if (taken.empty() || taken.back() != 1) taken.push_back(1);  // as every ladder ends
  return taken;
}

void Fixer::fix(Loop& loop) {
  loop.extent = fix(loop.extent);
  loop.symbol = rebind(loop.symbol, loop.extent);
  const bool is_ladder = loop.kind == LoopKind::Ladder;
  if (is_ladder) {
    loop.steps = steps_of(loop.steps, loop.extent);
    ladders_.emplace_back(loop.rows[0], loop.steps);
  }
  const bool runs = loop.extent.bounds().hi > 0;  // in others numbers need not make sense
  loop.body = std::make_shared<const Block>(runs ? fix(*loop.body) : Block());
  if (is_ladder) ladders_.pop_back();
}

void Fixer::fix(Store& store) {
  store.offset = fix(store.offset);
  store.value = fix(store.value);
  store.guards = fix(std::move(store.guards));
}

void Fixer::fix(Let& let) {
  let.value = fix(let.value);
  let.extent = fix(let.extent);
  let.guards = fix(std::move(let.guards));
  let.symbol = rebind(let.symbol, let.extent);
}

void Fixer::fix(Specialize& specialize) {
  const auto ladder = std::ranges::find_if(
      ladders_, [&](const auto& each) { return each.first == specialize.symbol; });
  if (ladder != ladders_.end()) {
    std::erase_if(specialize.values, [&](int64_t value) {
      return std::ranges::find(ladder->second, value) == ladder->second.end();
    });
  }
  specialize.body = std::make_shared<const Block>(fix(*specialize.body));
}

void Fixer::fix(Mma& mma) {
  mma.rows = fix(mma.rows);
  mma.a = fix(mma.a);
  mma.b = fix(mma.b);
}

bool does_nothing(const Stmt& stmt) {
  const auto* loop = stmt.as<Loop>();
  return loop && loop->kind != LoopKind::Thread && loop->body->empty();
}

// What a statement binds is known inside of it, and a let to the rest of its block.
Block Fixer::fix(const Block& block) {
  const size_t outside = meanings_.size();
  Block result;
  for (Stmt stmt : block) {
    const size_t before = meanings_.size();
    std::visit([&](auto& node) { fix(node); }, stmt.node);
    if (!stmt.as<Let>()) forget(before);
    if (!does_nothing(stmt)) result.push_back(std::move(stmt));
  }
  forget(outside);
  return result;
}

}  // namespace

Kernel fix_dims(const Kernel& kernel, std::span<const int64_t> values) {
  return Fixer().run(kernel, values);
}

}  // namespace tenon::kernel
