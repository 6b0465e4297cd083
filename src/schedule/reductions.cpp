// Reductions, as statements before the one that needs them. A row reduction has lane accumulators
// (element i in lane i mod 16), combined by the fixed tree; a contraction is accumulated in chunks.
// The order never depends on the machine.
#include <unordered_map>

#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

// What the reductions of a value leave behind: each is computed by statements before it, and read.
ExprRef Scheduler::without_reductions(const ExprRef& root, Block& before, const Beside& beside) {
  if (!contains(root, kReduce)) return root;
  std::unordered_map<const Expr*, ExprRef> done;
  const std::function<ExprRef(const ExprRef&)> visit = [&](const ExprRef& e) -> ExprRef {
    if (const auto it = done.find(e.get()); it != done.end()) return it->second;
    ExprRef result;
    if (e->op == Op::ReduceFma) {
      result = chunked_reduction(*e, before);
    } else if (has(e->op, kReduce)) {
      result = contains(e->args[0], kReduce) ? nested_reduction(*e, before)
                                             : lane_reduction(*e, before, beside);
    } else {
      Expr copy = *e;
      for (ExprRef& arg : copy.args) arg = visit(arg);
      result = copy.args == e->args ? e : std::make_shared<const Expr>(std::move(copy));
    }
    return done[e.get()] = result;
  };
  return visit(root);
}

// Whether a value has one reduction, of what the loop before it stores, element for element: then
// a row is gone through once for both.
bool Scheduler::fills_reduction(const Stmt& loop, const Stmt& reduction) const {
  const auto* filling = loop.as<Loop>();
  const auto* s = reduction.as<Store>();
  if (!filling || !s || filling->kind != LoopKind::Parallel ||
      !is_vector_body(*filling->body, filling->symbol))
    return false;
  const Expr* found = nullptr;
  int count = 0;
  for_each(s->value, [&](const Expr& e) {
    if (has(e.op, kReduce)) found = &e, ++count;
  });
  if (count != 1 || found->op == Op::ReduceFma || found->bound != filling->extent) return false;
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
  if (written.extent != extent) return result;
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
  const int acc = kernel_.add_buffer({.name = "acc" + std::to_string(names_++),
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
    return kernel_.add_buffer({.name = "acc" + std::to_string(names_++),
                               .dtype = e.dtype,
                               .elements = kLaneCount,
                               .storage = storage});
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

// A contraction that is no tile: one element, by chunks as in a tile.
ExprRef Scheduler::chunked_reduction(const Expr& e, Block& before) {
  auto scalar = [&](const char* name) {
    return kernel_.add_buffer(
        {.name = name + std::to_string(names_++), .dtype = e.dtype, .storage = Storage::Register});
  };
  const int acc = scalar("acc"), total = scalar("total");
  auto value = [&](int buffer) { return load(buffer, e.dtype, 0); };
  const ExprRef init = without_reductions(e.args[2], before);
  const Dim chunks = ceildiv(e.bound, kContractionChunk);
  const Symbol chunk = fresh("kc", chunks), k = fresh("k", kContractionChunk);
  const ExprRef is_first = in_range(chunk, 1);
  const Dim first = Dim(chunk) * kContractionChunk;
  Block multiply;
  const SymbolMap at_k = replacing(e.range[0], first + k);
  const ExprRef a = without_reductions(substitute(e.args[0], at_k), multiply);
  const ExprRef b = without_reductions(substitute(e.args[1], at_k), multiply);
  multiply.push_back(store(acc, 0, fma(a, b, value(acc))));
  before.push_back(store(total, 0, init));
  before.push_back(
      loop(LoopKind::Serial, chunk, chunks,
           {store(acc, 0, select(is_first, value(total), constant(e.dtype, 0))),
            loop(LoopKind::Serial, k, min(e.bound - first, kContractionChunk), std::move(multiply)),
            store(total, 0, select(is_first, value(acc), value(total) + value(acc)))}));
  return value(total);
}

}  // namespace tenon::schedule
