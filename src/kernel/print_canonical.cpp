// The text by which kernels are recognized as the same: printed after buffers became b0, b1, ...,
// symbols s0, s1, ... in the order in which the text binds them, and the name is gone. Argument
// order, bounds of free symbols and the sizes stay, because code and schedules depend on them.
#include <fmt/format.h>

#include <map>
#include <memory>

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
  SymbolMap map() const;
  Dim rename(const Dim& dim) const { return dim.substitute(map()); }
  std::vector<Guard> rename(std::vector<Guard> guards) const;
  ExprRef rename(const ExprRef& root);
  Block rename(const Block& block);
  std::shared_ptr<const Block> inside(const Block& block);
  void rename(Loop& loop);
  void rename(Store& store);
  void rename(Let& let);
  void rename(Specialize& specialize);
  void rename(Mma& mma);
  void rename(Prefetch& prefetch) const { prefetch.offset = rename(prefetch.offset); }

  std::map<Symbol, Symbol> names_;
  int count_ = 0;
};

Symbol Renamer::fresh(const Symbol& old) {
  std::string name = fmt::format("s{}", count_++);
  Symbol symbol = old.extent() ? Symbol::range(std::move(name), rename(*old.extent()))
                               : Symbol(std::move(name), old.bounds());
  names_.insert_or_assign(old, symbol);
  return symbol;
}

SymbolMap Renamer::map() const {
  return [this](const Symbol& symbol) -> std::optional<Dim> {
    const auto found = names_.find(symbol);
    if (found == names_.end()) return std::nullopt;
    return Dim(found->second);
  };
}

std::vector<Guard> Renamer::rename(std::vector<Guard> guards) const {
  for (Guard& guard : guards) guard = {rename(guard.index), rename(guard.bound)};
  return guards;
}

// Reductions of one statement over ranges of the same name keep sharing a name.
ExprRef Renamer::rename(const ExprRef& root) {
  const auto outside = names_;
  std::vector<const Expr*> reductions;
  for_each(root, [&](const Expr& expr) {
    if (has(expr.op, kReduce)) reductions.push_back(&expr);
  });
  std::map<Symbol, Symbol> ranges;
  for (auto reduction = reductions.rbegin(); reduction != reductions.rend(); ++reduction) {
    const Symbol& range = (*reduction)->range.at(0);
    if (!ranges.contains(range)) ranges.insert({range, fresh(range)});
  }
  ExprRef result = substitute(root, map());
  if (!ranges.empty()) {
    result = transform(result, [&](Expr& copy) -> ExprRef {
      for (Symbol& range : copy.range) range = ranges.at(range);
      return nullptr;
    });
  }
  names_ = outside;
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
  const auto found = names_.find(specialize.symbol);
  if (found != names_.end()) specialize.symbol = found->second;
  specialize.body = inside(*specialize.body);
}

void Renamer::rename(Mma& mma) {
  mma.rows = rename(mma.rows);
  mma.row = fresh(mma.row);
  mma.col = fresh(mma.col);
  mma.a = rename(mma.a);
  mma.b = rename(mma.b);
}

// What a statement binds is known to what is inside it, and a let to the rest of its block.
Block Renamer::rename(const Block& block) {
  const auto outside = names_;
  Block result;
  for (Stmt stmt : block) {
    const auto before = names_;
    std::visit([&](auto& node) { rename(node); }, stmt.node);
    if (!stmt.as<Let>()) names_ = before;
    result.push_back(std::move(stmt));
  }
  names_ = outside;
  return result;
}

}  // namespace

std::string canonical_text(const Kernel& kernel) { return print(Renamer().run(kernel)); }

}  // namespace tenon::kernel
