// Row statements as vectors. A loop over columns becomes vectors of kLaneCount with a masked tail;
// a reduction becomes a lane accumulator (element i in lane i mod 16), combined by the fixed tree.
// The order never depends on the machine.
#include <cmath>
#include <limits>

#include "base/error.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kUnrollUpTo = 4;  // vectors of a short row are copied, longer rows loop

// The smallest integer of a dtype. Exact: a power of two, or 0.
double lowest(DType dtype) {
  return info(dtype).kind == DTypeKind::Signed ? -std::ldexp(1.0, info(dtype).bits - 1) : 0.0;
}

// Adds the guard `element < extent` to every load that moves with the lane.
ExprRef guarded(const ExprRef& root, const Symbol& lane, const Guard& guard) {
  return transform(root, [&](Expr& copy) -> ExprRef {
    if (copy.op == Op::Load && copy.index.uses(lane)) copy.guards.push_back(guard);
    return nullptr;
  });
}

// What a lane starts with and what fills a masked tail.
ExprRef identity(Op op, DType dtype) {
  if (op == Op::ReduceAdd) return constant(dtype, 0);
  return constant(dtype,
                  is_float(dtype) ? -std::numeric_limits<double>::infinity() : lowest(dtype));
}

}  // namespace

Block Scheduler::lanes(const Dim& extent, const LaneBody& body) {
  const Dim full = floordiv(extent, kLaneCount);
  Block result;
  if (!full.is_const(0)) {
    const Symbol chunk = fresh("c", full);
    const bool unroll = full.is_const() && full.const_value() <= kUnrollUpTo;
    result.push_back(loop(unroll ? LoopKind::Unroll : LoopKind::Serial, chunk, full,
                          body(Dim(chunk) * kLaneCount, false)));
  }
  const Dim tails = ceildiv(extent, kLaneCount) - full;  // 0 or 1
  if (!tails.is_const(0)) {
    const Symbol once = fresh("c", tails);
    result.push_back(loop(LoopKind::Serial, once, tails, body(full * kLaneCount, true)));
  }
  return result;
}

// A statement of one row: a loop over columns, a carried loop, a let or a store of a scalar.
Block Scheduler::lanes_stmt(const Stmt& stmt) {
  if (const auto* s = stmt.as<Store>()) return lanes_store(*s);
  if (stmt.as<Let>()) return {stmt};
  const auto* l = stmt.as<Loop>();
  TENON_CHECK(l, "kernel {}: unexpected statement in a row", source_.name);
  const auto* column_store = l->body->size() == 1 ? (*l->body)[0].as<Store>() : nullptr;
  if (l->kind == LoopKind::Parallel && column_store && !contains(column_store->value, kReduce)) {
    return lanes(l->extent, [&](const Dim& element, bool tail) -> Block {
      const Symbol lane = fresh("l", kLaneCount);
      const Dim at = element + lane;
      const SymbolMap map = replacing(l->symbol, at);
      Store s = std::get<Store>(substitute((*l->body)[0], map).node);
      if (tail) {
        s.value = guarded(s.value, lane, {at, l->extent});
        s.guards.push_back({at, l->extent});
      }
      return {loop(LoopKind::Vector, lane, kLaneCount, {Stmt{std::move(s)}})};
    });
  }
  Block body;
  for (const Stmt& inner : *l->body) {
    for (Stmt& made : lanes_stmt(inner)) body.push_back(std::move(made));
  }
  return {loop(LoopKind::Serial, l->symbol, l->extent, std::move(body))};
}

// A scalar of the row. Its reductions are accumulated in lanes first.
Block Scheduler::lanes_store(const Store& source) {
  Block result;
  Store s = source;
  s.value = transform(s.value, [&](Expr& copy) -> ExprRef {
    if (!has(copy.op, kReduce)) return nullptr;
    TENON_CHECK(copy.op != Op::ReduceFma, "kernel {}: a contraction outside a tile", source_.name);
    const ExprRef zero = identity(copy.op, copy.dtype);
    const int acc = kernel_.add_buffer({.name = "acc" + std::to_string(names_++),
                                        .dtype = copy.dtype,
                                        .elements = kLaneCount,
                                        .storage = Storage::Register});
    auto at_lane = [&](const Symbol& lane) { return load(acc, copy.dtype, lane); };
    const Symbol first = fresh("l", kLaneCount);
    result.push_back(loop(LoopKind::Vector, first, kLaneCount, {store(acc, first, zero)}));
    const Symbol range = copy.range[0];
    const ExprRef body = copy.args[0];
    const Dim extent = copy.bound;
    const Op combine = copy.op == Op::ReduceAdd ? Op::Add : Op::Max;
    for (Stmt& made : lanes(extent, [&](const Dim& element, bool tail) -> Block {
           const Symbol lane = fresh("l", kLaneCount);
           const Dim at = element + lane;
           ExprRef value = substitute(body, replacing(range, at));
           if (tail) value = select(in_range(at, extent), guarded(value, lane, {at, extent}), zero);
           return {loop(LoopKind::Vector, lane, kLaneCount,
                        {store(acc, lane, pointwise(combine, {at_lane(lane), value}))})};
         })) {
      result.push_back(std::move(made));
    }
    return kernel::lanes(copy.op == Op::ReduceAdd ? Op::LanesAdd : Op::LanesMax, copy.dtype, acc);
  });
  result.push_back(Stmt{std::move(s)});
  return result;
}

}  // namespace tenon::schedule
