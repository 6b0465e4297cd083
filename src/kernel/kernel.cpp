// Building and rebuilding statements of the loop IR, and what a kernel says about itself: grid,
// scratch, free symbols.
#include "kernel/kernel.h"

#include <algorithm>
#include <set>

#include "base/error.h"

namespace tenon::kernel {

namespace {

constexpr int64_t kScratchAlignment = 64;

std::shared_ptr<const Block> share(Block block) {
  return std::make_shared<const Block>(std::move(block));
}

std::vector<Guard> substitute(const std::vector<Guard>& guards, const SymbolMap& map) {
  std::vector<Guard> result;
  for (const Guard& guard : guards)
    result.push_back({guard.index.substitute(map), guard.bound.substitute(map)});
  return result;
}

Block substitute(const Block& block, const SymbolMap& map) {
  Block result;
  for (const Stmt& stmt : block) result.push_back(substitute(stmt, map));
  return result;
}

}  // namespace

int Kernel::add_buffer(Buffer buffer) {
  buffers.push_back(std::move(buffer));
  return static_cast<int>(buffers.size()) - 1;
}

int Kernel::argument_of(int buffer) const {
  return static_cast<int>(
      std::count_if(buffers.begin(), buffers.begin() + buffer,
                    [](const Buffer& b) { return b.storage == Storage::Global; }));
}

Dim Kernel::grid() const {
  const Loop* outer = body.size() == 1 ? body[0].as<Loop>() : nullptr;
  TENON_CHECK(outer && outer->kind == LoopKind::Thread, "kernel {} has no thread loop", name);
  return outer->extent;
}

int64_t Kernel::block_threads() const {
  int64_t threads = 0;
  for_each(body, [&](const Stmt& stmt) {
    const auto* l = stmt.as<Loop>();
    if (l && l->kind == LoopKind::Together) threads = l->extent.const_value();
  });
  TENON_CHECK(threads > 0, "kernel {} has no loop over threads", name);
  return threads;
}

Dim Kernel::scratch_offset(int buffer) const {
  Dim offset = 0;
  for (int i = 0; i < buffer; ++i) {
    const Buffer& b = buffers[static_cast<size_t>(i)];
    if (b.storage == Storage::Scratch)
      offset = offset + round_up(b.elements * size_of(b.dtype), kScratchAlignment);
  }
  return offset;
}

Dim Kernel::scratch_bytes() const { return scratch_offset(static_cast<int>(buffers.size())); }

Stmt loop(LoopKind kind, const Symbol& symbol, Dim extent, Block body) {
  return {Loop{symbol, std::move(extent), kind, share(std::move(body)), {}, {}}};
}

Stmt ladder(const Symbol& start, Dim extent, const Symbol& rows, std::vector<int64_t> steps,
            Block body) {
  return {Loop{start,
               std::move(extent),
               LoopKind::Ladder,
               share(std::move(body)),
               {rows},
               std::move(steps)}};
}

Stmt store(int buffer, Dim offset, ExprRef value, std::vector<Guard> guards) {
  return {Store{buffer, std::move(offset), std::move(value), std::move(guards)}};
}

Stmt let(const Symbol& symbol, ExprRef value, Dim extent, int buffer, std::vector<Guard> guards) {
  return {Let{symbol, std::move(value), std::move(extent), buffer, std::move(guards)}};
}

Stmt let_known(const Symbol& symbol, ExprRef value, Dim extent, std::vector<Guard> guards) {
  return let(symbol, std::move(value), std::move(extent), Let::kKnown, std::move(guards));
}

Stmt specialize(const Symbol& symbol, std::vector<int64_t> values, Block body) {
  return {Specialize{symbol, std::move(values), share(std::move(body))}};
}

Stmt substitute(const Stmt& stmt, const SymbolMap& map) {
  if (const auto* l = stmt.as<Loop>()) {
    return {Loop{l->symbol, l->extent.substitute(map), l->kind, share(substitute(*l->body, map)),
                 l->rows, l->steps}};
  }
  if (const auto* s = stmt.as<Store>()) {
    return {Store{s->buffer, s->offset.substitute(map), substitute(s->value, map),
                  substitute(s->guards, map), s->streamed}};
  }
  if (const auto* l = stmt.as<Let>()) {
    return let(l->symbol, substitute(l->value, map), l->extent.substitute(map), l->buffer,
               substitute(l->guards, map));
  }
  if (const auto* s = stmt.as<Specialize>())
    return specialize(s->symbol, s->values, substitute(*s->body, map));
  if (const auto* p = stmt.as<Prefetch>()) return {Prefetch{p->buffer, p->offset.substitute(map)}};
  if (stmt.as<Barrier>() || stmt.as<Combine>()) return stmt;
  if (const auto* t = stmt.as<TileMma>()) {
    TileMma tile = *t;
    tile.row = t->row.substitute(map), tile.col = t->col.substitute(map);
    tile.a = substitute(t->a, map), tile.b = substitute(t->b, map);
    return {std::move(tile)};
  }
  const auto& m = std::get<Mma>(stmt.node);
  return {Mma{m.kind, m.row, m.col, m.rows.substitute(map), m.cols, m.acc, substitute(m.a, map),
              substitute(m.b, map)}};
}

Block transform_exprs(const Block& block, const std::function<ExprRef(const ExprRef&)>& change) {
  Block result;
  for (Stmt stmt : block) {
    if (auto* l = std::get_if<Loop>(&stmt.node)) l->body = share(transform_exprs(*l->body, change));
    if (auto* s = std::get_if<Specialize>(&stmt.node))
      s->body = share(transform_exprs(*s->body, change));
    if (auto* s = std::get_if<Store>(&stmt.node)) s->value = change(s->value);
    if (auto* l = std::get_if<Let>(&stmt.node)) l->value = change(l->value);
    if (auto* m = std::get_if<Mma>(&stmt.node)) {
      m->a = change(m->a);
      m->b = change(m->b);
    }
    if (auto* t = std::get_if<TileMma>(&stmt.node)) {
      t->a = change(t->a);
      t->b = change(t->b);
    }
    result.push_back(std::move(stmt));
  }
  return result;
}

void for_each(const Block& block, const std::function<void(const Stmt&)>& visit) {
  for (const Stmt& stmt : block) {
    visit(stmt);
    if (const auto* l = stmt.as<Loop>()) for_each(*l->body, visit);
    if (const auto* s = stmt.as<Specialize>()) for_each(*s->body, visit);
  }
}

std::vector<Symbol> free_symbols(const Kernel& kernel) {
  std::set<Symbol> used, bound;
  auto use = [&](const Dim& dim) {
    for (const Symbol& symbol : dim.symbols()) used.insert(symbol);
  };
  auto use_guards = [&](const std::vector<Guard>& guards) {
    for (const Guard& guard : guards) use(guard.index), use(guard.bound);
  };
  auto use_expr = [&](const ExprRef& root) {
    for_each(root, [&](const Expr& expr) {
      use(expr.index), use(expr.bound), use_guards(expr.guards);
      bound.insert(expr.range.begin(), expr.range.end());
    });
  };
  for_each(kernel.body, [&](const Stmt& stmt) {
    if (const auto* l = stmt.as<Loop>()) {
      use(l->extent), bound.insert(l->symbol);
      bound.insert(l->rows.begin(), l->rows.end());
    } else if (const auto* s = stmt.as<Store>()) {
      use(s->offset), use_guards(s->guards), use_expr(s->value);
    } else if (const auto* l2 = stmt.as<Let>()) {
      use(l2->extent), use_guards(l2->guards), use_expr(l2->value), bound.insert(l2->symbol);
    } else if (const auto* m = stmt.as<Mma>()) {
      use(m->rows), use_expr(m->a), use_expr(m->b), bound.insert(m->row), bound.insert(m->col);
    } else if (const auto* p = stmt.as<Prefetch>()) {
      use(p->offset);
    } else if (const auto* t = stmt.as<TileMma>()) {
      use(t->row), use(t->col), use_expr(t->a), use_expr(t->b);
      bound.insert({t->thread, t->element, t->i, t->j, t->k});
    }
  });
  for (const Buffer& buffer : kernel.buffers) use(buffer.elements);
  use(kernel.flops), use(kernel.bytes);
  std::vector<Symbol> result;
  std::set_difference(used.begin(), used.end(), bound.begin(), bound.end(),
                      std::back_inserter(result));
  return result;
}

}  // namespace tenon::kernel
