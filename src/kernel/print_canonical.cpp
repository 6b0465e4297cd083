// The text by which kernels are recognized as the same: printed after buffers became b0, b1, ...,
// symbols s0, s1, ... in the order in which the text binds them, and the name is gone. Argument
// order, bounds of free symbols and the sizes stay, because code and schedules depend on them.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include "kernel/text.h"

namespace tenon::kernel {
namespace {

class Renamer {
 public:
  Kernel run(const Kernel& kernel) {
    Kernel result = kernel;
    result.name.clear();
    for (Symbol& symbol : result.dims) symbol = fresh(symbol);
    for (size_t i = 0; i < result.buffers.size(); ++i) {
      result.buffers[i].name = fmt::format("b{}", i);
      result.buffers[i].elements = rename(result.buffers[i].elements);
    }
    result.flops = rename(kernel.flops);
    result.bytes = rename(kernel.bytes);
    result.body = rename(kernel.body);
    return result;
  }

 private:
  Symbol fresh(const Symbol& old);
  void forget(size_t bound);  // all names but the first ones
  const Symbol* name_of(const Symbol& old) const;
  Dim rename(const Dim& dim);
  std::vector<Guard> rename(std::vector<Guard> guards);
  ExprRef rename(const ExprRef& root);
  Block rename(const Block& block);
  std::shared_ptr<const Block> inside(const Block& block);
  void rename(Loop& loop);
  void rename(Store& store);
  void rename(Let& let);
  void rename(Specialize& specialize);
  void rename(Mma& mma);
  void rename(Prefetch& prefetch) { prefetch.offset = rename(prefetch.offset); }
  void rename(TileMma& tile);
  static void rename(Barrier&) {}
  static void rename(Combine&) {}

  std::vector<std::pair<Symbol, Symbol>> names_;  // inner ones last
  std::unordered_map<Dim, Dim> renamed_;          // by these names: the same guards stand all over
  int count_ = 0;
};

Symbol Renamer::fresh(const Symbol& old) {
  std::string name = fmt::format("s{}", count_++);
  Symbol symbol = old.extent() ? Symbol::range(std::move(name), rename(*old.extent()))
                               : Symbol(std::move(name), old.bounds());
  names_.emplace_back(old, symbol);
  renamed_.clear();
  return symbol;
}

void Renamer::forget(size_t bound) {
  if (names_.size() == bound) return;
  names_.erase(names_.begin() + static_cast<std::ptrdiff_t>(bound), names_.end());
  renamed_.clear();
}

const Symbol* Renamer::name_of(const Symbol& old) const {
  for (auto name = names_.rbegin(); name != names_.rend(); ++name) {
    if (name->first == old) return &name->second;
  }
  return nullptr;
}

Dim Renamer::rename(const Dim& dim) {
  if (dim.is_const()) return dim;
  const auto [known, fresh] = renamed_.try_emplace(dim);
  if (fresh) {
    known->second = dim.substitute([this](const Symbol& symbol) -> std::optional<Dim> {
      const Symbol* name = name_of(symbol);
      return name ? std::optional<Dim>(*name) : std::nullopt;
    });
  }
  return known->second;
}

std::vector<Guard> Renamer::rename(std::vector<Guard> guards) {
  for (Guard& guard : guards) guard = {rename(guard.index), rename(guard.bound)};
  return guards;
}

// Reductions of one statement over ranges of the same name keep sharing a name.
ExprRef Renamer::rename(const ExprRef& root) {
  const size_t outside = names_.size();
  std::vector<const Expr*> reductions;
  for_each(root, [&](const Expr& expr) {
    if (has(expr.op, kReduce)) reductions.push_back(&expr);
  });
  std::vector<Symbol> ranges;
  for (auto reduction = reductions.rbegin(); reduction != reductions.rend(); ++reduction) {
    const Symbol& range = (*reduction)->range.at(0);
    if (std::ranges::count(ranges, range) > 0) continue;
    ranges.push_back(range);
    fresh(range);
  }
  ExprRef result = transform(root, [&](Expr& copy) -> ExprRef {
    copy.index = rename(copy.index);
    copy.bound = rename(copy.bound);
    copy.guards = rename(std::move(copy.guards));
    for (Symbol& range : copy.range) range = *name_of(range);
    return nullptr;
  });
  forget(outside);
  return result;
}

std::shared_ptr<const Block> Renamer::inside(const Block& block) {
  return std::make_shared<const Block>(rename(block));
}

void Renamer::rename(Loop& loop) {
  loop.extent = rename(loop.extent);
  loop.symbol = fresh(loop.symbol);
  for (Symbol& rows : loop.rows) rows = fresh(rows);
  loop.body = inside(*loop.body);
}

void Renamer::rename(Store& store) {
  store.offset = rename(store.offset);
  store.value = rename(store.value);
  store.guards = rename(store.guards);
}

void Renamer::rename(Let& let) {
  let.value = rename(let.value);
  let.extent = rename(let.extent);
  let.guards = rename(let.guards);
  let.symbol = fresh(let.symbol);
}

void Renamer::rename(Specialize& specialize) {
  if (const Symbol* name = name_of(specialize.symbol)) specialize.symbol = *name;
  specialize.body = inside(*specialize.body);
}

void Renamer::rename(Mma& mma) {
  mma.rows = rename(mma.rows);
  mma.row = fresh(mma.row);
  mma.col = fresh(mma.col);
  mma.a = rename(mma.a);
  mma.b = rename(mma.b);
}

void Renamer::rename(TileMma& tile) {
  for (Symbol* symbol : {&tile.thread, &tile.element}) *symbol = fresh(*symbol);
  tile.row = rename(tile.row);
  tile.col = rename(tile.col);
  for (Symbol* symbol : {&tile.i, &tile.j, &tile.k}) *symbol = fresh(*symbol);
  tile.a = rename(tile.a);
  tile.b = rename(tile.b);
}

// What a statement binds is known to what is inside it, and a let to the rest of its block.
Block Renamer::rename(const Block& block) {
  const size_t outside = names_.size();
  Block result;
  for (Stmt stmt : block) {
    const size_t before = names_.size();
    std::visit([&](auto& node) { rename(node); }, stmt.node);
    if (!stmt.as<Let>()) forget(before);
    result.push_back(std::move(stmt));
  }
  forget(outside);
  return result;
}

}  // namespace

std::string canonical_text(const Kernel& kernel) { return print(Renamer().run(kernel)); }

}  // namespace tenon::kernel
