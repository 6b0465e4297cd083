// Building and rebuilding expressions of the loop IR. Rebuilding visits a shared node once and
// keeps sharing, so a DAG stays a DAG through every pass.
#include "kernel/expr.h"

#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "base/error.h"

namespace tenon::kernel {

namespace {

ExprRef make(Expr expr) { return std::make_shared<const Expr>(std::move(expr)); }

// Operands before users, each node once, without recursion.
std::vector<const ExprRef*> postorder(const ExprRef& root) {
  std::vector<const ExprRef*> order;
  std::unordered_set<const Expr*> done;
  std::vector<std::pair<const ExprRef*, size_t>> stack = {{&root, 0}};
  while (!stack.empty()) {
    auto& [ref, next] = stack.back();
    const Expr& expr = **ref;
    if (next == 0 && done.contains(&expr)) {
      stack.pop_back();
    } else if (next < expr.args.size()) {
      const ExprRef* arg = &expr.args[next++];
      stack.emplace_back(arg, 0);
    } else {
      if (done.insert(&expr).second) order.push_back(ref);
      stack.pop_back();
    }
  }
  return order;
}

}  // namespace

ExprRef constant(DType dtype, double value) {
  if (dtype == DType::F32) value = static_cast<float>(value);
  return make({.op = Op::Const, .dtype = dtype, .value = value});
}

ExprRef index_value(DType dtype, Dim index) {
  return make({.op = Op::Index, .dtype = dtype, .index = std::move(index)});
}

ExprRef in_range(Dim index, Dim bound) {
  return make({.op = Op::InRange,
               .dtype = DType::Bool,
               .index = std::move(index),
               .bound = std::move(bound)});
}

ExprRef load(int buffer, DType dtype, Dim offset, std::vector<Guard> guards) {
  return make({.op = Op::Load,
               .dtype = dtype,
               .index = std::move(offset),
               .buffer = buffer,
               .guards = std::move(guards)});
}

ExprRef pointwise(Op op, std::vector<ExprRef> args) {
  TENON_CHECK(has(op, kPointwise) && static_cast<int>(args.size()) == info(op).operands,
              "[{}] takes {} operands", info(op).text, info(op).operands);
  const DType dtype = has(op, kBoolResult) ? DType::Bool : args.back()->dtype;
  return make({.op = op, .dtype = dtype, .args = std::move(args)});
}

ExprRef cast(ExprRef x, DType dtype) {
  if (x->dtype == dtype) return x;
  const bool widened = x->op == Op::Cast && x->dtype == DType::F32;
  if (widened && computed_in(dtype) == DType::F32 && x->args[0]->dtype == dtype) return x->args[0];
  return make({.op = Op::Cast, .dtype = dtype, .args = {std::move(x)}});
}

ExprRef bit_cast(ExprRef x, DType dtype) {
  if (x->dtype == dtype) return x;
  return make({.op = Op::BitCast, .dtype = dtype, .args = {std::move(x)}});
}

ExprRef reduce(Op op, const Symbol& range, Dim extent, std::vector<ExprRef> args) {
  TENON_CHECK(has(op, kReduce) && static_cast<int>(args.size()) == info(op).operands,
              "[{}] takes {} operands", info(op).text, info(op).operands);
  const DType dtype = args.back()->dtype;
  return make({.op = op,
               .dtype = dtype,
               .args = std::move(args),
               .bound = std::move(extent),
               .range = {range}});
}

ExprRef lanes(Op op, DType dtype, int buffer) {
  return make({.op = op, .dtype = dtype, .buffer = buffer});
}

ExprRef identity(Op join, DType dtype) {
  if (join != Op::Max) return constant(dtype, join == Op::Mul ? 1 : 0);
  if (is_float(dtype)) return constant(dtype, -std::numeric_limits<double>::infinity());
  const bool is_signed = tenon::info(dtype).kind == DTypeKind::Signed;
  return constant(dtype, is_signed ? -std::ldexp(1.0, tenon::info(dtype).bits - 1) : 0.0);
}

ExprRef transform(const ExprRef& root, const std::function<ExprRef(Expr&)>& change) {
  std::unordered_map<const Expr*, ExprRef> rebuilt;
  for (const ExprRef* ref : postorder(root)) {
    const Expr& old = **ref;
    Expr copy = old;
    bool same = true;
    for (ExprRef& arg : copy.args) {
      const ExprRef& fresh = rebuilt.at(arg.get());
      same = same && fresh == arg;
      arg = fresh;
    }
    ExprRef replacement = change(copy);
    if (!replacement) {
      same = same && copy.index == old.index && copy.bound == old.bound &&
             copy.guards == old.guards && copy.buffer == old.buffer && copy.range == old.range &&
             copy.op == old.op && copy.value == old.value;
      replacement = same ? *ref : make(std::move(copy));
    }
    rebuilt[&old] = std::move(replacement);
  }
  return rebuilt.at(root.get());
}

ExprRef substitute(const ExprRef& root, const SymbolMap& map) {
  return transform(root, [&](Expr& copy) -> ExprRef {
    copy.index = copy.index.substitute(map);
    copy.bound = copy.bound.substitute(map);
    for (Guard& guard : copy.guards)
      guard = {guard.index.substitute(map), guard.bound.substitute(map)};
    return nullptr;
  });
}

void for_each(const ExprRef& root, const std::function<void(const Expr&)>& visit) {
  for (const ExprRef* ref : postorder(root)) visit(**ref);
}

bool contains(const ExprRef& root, unsigned traits) {
  bool found = false;
  for_each(root, [&](const Expr& expr) { found = found || (info(expr.op).traits & traits) != 0; });
  return found;
}

bool uses(const ExprRef& root, const Symbol& symbol) {
  bool found = false;
  for_each(root, [&](const Expr& expr) {
    found = found || expr.index.uses(symbol) || expr.bound.uses(symbol);
    for (const Guard& guard : expr.guards)
      found = found || guard.index.uses(symbol) || guard.bound.uses(symbol);
  });
  return found;
}

}  // namespace tenon::kernel
