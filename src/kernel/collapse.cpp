// Nested parallel loops that every access addresses as one range become one loop. Rows of a dense
// [batch, seq, n] are then `i` over batch*seq, which is what lets one schedule serve any batch and
// length.
#include <algorithm>

#include "kernel/kernel.h"

namespace tenon::kernel {

namespace {

// Whether `offset` sees outer and inner only as outer * extent + inner.
bool addresses_as_one(const Dim& offset, const Symbol& outer, const Symbol& inner,
                      const Dim& extent) {
  const auto a = offset.coefficient(outer);
  const auto b = offset.coefficient(inner);
  return a && b && *a == *b * extent;
}

bool collapsible(const Block& body, const Symbol& outer, const Symbol& inner, const Dim& extent) {
  bool result = true;
  auto check = [&](const Dim& dim) {
    result = result && addresses_as_one(dim, outer, inner, extent);
  };
  auto check_guards = [&](const std::vector<Guard>& guards) {
    for (const Guard& guard : guards) check(guard.index), check(guard.bound);
  };
  auto check_expr = [&](const ExprRef& root) {
    for_each(root, [&](const Expr& expr) {
      check(expr.index), check(expr.bound), check_guards(expr.guards);
    });
  };
  for_each(body, [&](const Stmt& stmt) {
    if (const auto* l = stmt.as<Loop>()) check(l->extent);
    if (const auto* s = stmt.as<Store>())
      check(s->offset), check_guards(s->guards), check_expr(s->value);
    if (const auto* l = stmt.as<Let>())
      check(l->extent), check_guards(l->guards), check_expr(l->value);
    if (stmt.as<Mma>() || stmt.as<Specialize>()) result = false;
  });
  return result;
}

// Collapses the innermost pair first, so that a chain of several becomes one.
Stmt collapse(const Stmt& stmt, const std::vector<Symbol>& dims) {
  const auto* outer = stmt.as<Loop>();
  if (!outer || outer->kind != LoopKind::Parallel || outer->body->size() != 1) return stmt;
  const Stmt nested = collapse((*outer->body)[0], dims);
  const auto* inner = nested.as<Loop>();
  if (!inner || inner->kind != LoopKind::Parallel || inner->extent.is_const(0) ||
      !collapsible(*inner->body, outer->symbol, inner->symbol, inner->extent)) {
    return loop(outer->kind, outer->symbol, outer->extent, {nested});
  }
  const Dim extent = outer->extent * inner->extent;
  std::string name = outer->symbol.name() + inner->symbol.name();
  auto taken = [&](const Symbol& dim) { return dim.name() == name; };
  while (std::any_of(dims.begin(), dims.end(), taken)) name += '_';
  const Symbol merged = Symbol::range(name, extent);
  const Dim quotient = floordiv(merged, inner->extent);
  const Dim remainder = mod(merged, inner->extent);
  const SymbolMap map = [&](const Symbol& symbol) -> std::optional<Dim> {
    if (symbol == outer->symbol) return quotient;
    if (symbol == inner->symbol) return remainder;
    return std::nullopt;
  };
  Block body;
  for (const Stmt& s : *inner->body) body.push_back(substitute(s, map));
  return loop(LoopKind::Parallel, merged, extent, std::move(body));
}

}  // namespace

Kernel collapse_loops(const Kernel& kernel) {
  Kernel result = kernel;
  for (Stmt& stmt : result.body) stmt = collapse(stmt, kernel.dims);
  return result;
}

}  // namespace tenon::kernel
