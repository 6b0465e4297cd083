// Reductions, as statements before the one that needs them. A row reduction has lane accumulators
// (element i in lane i mod 16), combined by the fixed tree; a contraction that is no tile goes by
// chunks. The order never depends on the machine.
#include "schedule/scheduler.h"
#include "schedule/serial_reductions.h"

namespace tenon::schedule {

using namespace kernel;

// What the reductions of a value leave behind: each is computed by statements before it, and read.
ExprRef Scheduler::without_reductions(const ExprRef& root, Block& before, const Beside& beside) {
  return replace_reductions(root, [&](const Expr& e) {
    if (is_contraction(e.op)) return serial_reduction(e, before, around());
    return contains(e.args[0], kReduce) ? nested_reduction(e, before)
                                        : lane_reduction(e, before, beside);
  });
}

Around Scheduler::around() {
  return {kernel_, std::ref(fresh_), [this](const ExprRef& value, Block& before) {
            return without_reductions(value, before);
          }};
}

// Whether a value has one reduction, of what the loop before it stores, element for element: then
// a row is gone through once for both.
bool Scheduler::fills_reduction(const Stmt& loop, const Stmt& reduction) const {
  const auto* filling = loop.as<Loop>();
  const auto* s = reduction.as<Store>();
  if (target_.plain || !filling || !s || filling->kind != LoopKind::Parallel ||
      !is_vector_body(*filling->body, filling->symbol))
    return false;
  const Expr* found = nullptr;
  int count = 0;
  for_each(s->value, [&](const Expr& e) {
    if (has(e.op, kReduce)) found = &e, ++count;
  });
  if (count != 1 || is_contraction(found->op) || found->bound != filling->extent) return false;
  bool same = true;
  for (const Stmt& filled : *filling->body) {
    const auto* to = filled.as<Store>();
    if (!to) return false;
    const Dim offset = to->offset.substitute(filling->symbol, found->range[0]);
    for_each(s->value, [&](const Expr& e) {
      if (e.op == Op::Load && e.buffer == to->buffer) same = same && e.index == offset;
    });
  }
  return same;
}

// Of the lines that the next loop writes: from there on they are on their way, while the reduction
// computes.
Block Scheduler::prefetches(const Loop& written, const Dim& extent, const Dim& element) const {
  Block result;
  if (target_.plain || written.extent != extent) return result;
  for (const Stmt& stmt : *written.body) {
    const auto* s = stmt.as<Store>();
    if (!s || is_local(s->buffer) || !is_known_before(s->offset, *written.body)) continue;
    if (s->offset.coefficient(written.symbol) != Dim(1)) continue;
    result.push_back({Prefetch{s->buffer, s->offset.substitute(written.symbol, element)}});
  }
  return result;
}

// Accumulated in the lanes of a register.
ExprRef Scheduler::lane_reduction(const Expr& e, Block& before, const Beside& beside) {
  const Reduction& reduction = reduction_of(e.op);
  const ExprRef start = identity(reduction.join, e.dtype);
  const int acc = kernel_.add_buffer({.name = fresh_.name("acc"),
                                      .dtype = e.dtype,
                                      .elements = kLaneCount,
                                      .storage = Storage::Register});
  const Symbol first = fresh("l", kLaneCount);
  before.push_back(loop(LoopKind::Vector, first, kLaneCount, {store(acc, first, start)}));
  const Dim extent = e.bound;
  for (Stmt& made : lanes(extent, [&](const Dim& element, bool tail) -> Block {
         Block both;
         if (beside.written && !tail) both = prefetches(*beside.written, extent, element);
         if (beside.filling) both.push_back(vector_of(*beside.filling, element, tail));
         const Symbol lane = fresh("l", kLaneCount);
         const Dim at = element + lane;
         ExprRef value = substitute(e.args[0], replacing(e.range[0], at));
         if (tail) {
           value = transform(value, [&](Expr& copy) -> ExprRef {
             if (copy.op == Op::Load && copy.index.uses(lane)) copy.guards.push_back({at, extent});
             return nullptr;
           });
           value = select(in_range(at, extent), value, start);
         }
         const ExprRef sum = pointwise(reduction.join, {load(acc, e.dtype, lane), value});
         both.push_back(loop(LoopKind::Vector, lane, kLaneCount, {store(acc, lane, sum)}));
         return both;
       })) {
    before.push_back(std::move(made));
  }
  return kernel::lanes(reduction.lanes, e.dtype, acc);
}

// Whose elements are reductions themselves: one after the other, each added to its lane.
ExprRef Scheduler::nested_reduction(const Expr& e, Block& before) {
  const Reduction& reduction = reduction_of(e.op);
  const ExprRef start = identity(reduction.join, e.dtype);
  auto buffer = [&](Storage storage) {
    return kernel_.add_buffer(
        {.name = fresh_.name("acc"), .dtype = e.dtype, .elements = kLaneCount, .storage = storage});
  };
  const int sums = buffer(Storage::Stack), acc = buffer(Storage::Register);
  const Symbol first = fresh("l", kLaneCount), last = fresh("l", kLaneCount);
  before.push_back(loop(LoopKind::Vector, first, kLaneCount, {store(sums, first, start)}));
  auto joined = [&](const Dim& at, const ExprRef& value) {
    const Dim lane = mod(at, kLaneCount);
    return store(sums, lane, pointwise(reduction.join, {load(sums, e.dtype, lane), value}));
  };
  Block body;
  const ExprRef value = without_reductions(e.args[0], body);
  body.push_back(joined(e.range[0], value));
  before.push_back(loop(LoopKind::Serial, e.range[0], e.bound, std::move(body)));
  // The lanes that a masked tail would have filled.
  const Dim rest = ceildiv(e.bound, kLaneCount) * kLaneCount - e.bound;
  const Symbol empty = fresh("e", kLaneCount);
  before.push_back(loop(LoopKind::Serial, empty, rest, {joined(e.bound + empty, start)}));
  before.push_back(
      loop(LoopKind::Vector, last, kLaneCount, {store(acc, last, load(sums, e.dtype, last))}));
  return kernel::lanes(reduction.lanes, e.dtype, acc);
}

}  // namespace tenon::schedule
