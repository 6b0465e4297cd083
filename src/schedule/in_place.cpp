// The steps of a contraction's tile. From panels they are one loop. A tile that reads its right
// operand where it lies (a cache that few queries look at once) has vectors of its columns in
// memory, or gets them by turning 16 x 16 elements in registers; either way memory is read once,
// and nothing of it is written down again.
#include <algorithm>

#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

// How far ahead of its use a line is asked for. Rows of a cache lie apart, and no hardware foresees
// them; that of panels forgets at the end of each page what it has foreseen, and a tile of a few
// rows is done with a page sooner than the next one comes.
constexpr int64_t kRowsAhead = 64;
constexpr int64_t kMostRowsAhead = 256;
// Steps that are written out: a loop of a chunk is so short then that its end is foreseen.
constexpr int64_t kStepsAtOnce = 4;
constexpr int64_t kMostStepsAtOnce = 16;

}  // namespace

Stmt Scheduler::multiplied(const Contraction& c, const TilePlace& place, int acc, const Dim& k) {
  const Op op = c.reduce->op;
  const MmaKind kind = op == Op::ReduceDot2   ? MmaKind::Dot2
                       : op == Op::ReduceDot4 ? MmaKind::Dot4
                                              : MmaKind::Outer;
  const Symbol ii = fresh("ii", target_.row_steps[0]), jj = fresh("jj", place.columns);
  const auto at = [&](int operand, const Dim& row, const Dim& column) {
    const ExprRef value =
        in_tile(c.reduce->args[static_cast<size_t>(operand)], c, place, row, column);
    return substitute(value, replacing(c.k, k));
  };
  return Stmt{Mma{kind, ii, jj, place.rows.count, place.columns, acc, at(0, ii, 0), at(1, 0, jj)}};
}

// Of each load that moves with k, the lines of the tile's columns some steps later.
Block Scheduler::fetches_ahead(const Contraction& c, const TilePlace& place, const Dim& k) {
  Block result;
  for_each(c.reduce->args[1], [&](const Expr& e) {
    if (e.op != Op::Load || is_local(e.buffer) || !e.index.uses(c.k)) return;
    std::vector<int64_t> options = doublings(kLaneCount, kMostRowsAhead);
    options.push_back(0);
    const int64_t ahead = decide(Decision::StepsAhead, kRowsAhead, std::move(options));
    if (ahead == 0) return;
    const auto at = [&](int64_t column) {
      const ExprRef there = in_tile(index_value(DType::I64, e.index), c, place, 0, column);
      return there->index.substitute(c.k, k + ahead);
    };
    for (Stmt& s : fetches_of_lines(e.buffer, place.columns, at)) result.push_back(std::move(s));
  });
  return result;
}

// `count` steps (16 at most) of a right operand whose load `turned` runs along k.
Block Scheduler::multiply_turned(const Contraction& c, const TilePlace& place, int acc,
                                 const Expr& turned, const Dim& first, int64_t count) {
  const int block = kernel_.add_buffer({.name = fresh_.name("block"),
                                        .dtype = turned.dtype,
                                        .elements = kLaneCount * kLaneCount,
                                        .storage = Storage::Register});
  std::vector<Guard> guards = turned.guards;
  if (count < kLaneCount) guards.push_back({c.k, c.depth});
  const ExprRef source = load(turned.buffer, turned.dtype, turned.index, guards);
  const auto at = [&](const ExprRef& value, const Dim& column, const Dim& k) {
    return substitute(in_tile(value, c, place, 0, column), replacing(c.k, first + k));
  };
  const Symbol u = fresh("u", kLaneCount), l = fresh("l", kLaneCount);
  const Stmt read = store(block, Dim(u) * kLaneCount + l, at(source, u, l));
  const Symbol ahead = fresh("u", kLaneCount);
  const ExprRef later = at(index_value(DType::I64, turned.index), Dim(ahead) + kRowsAhead, 0);
  Contraction in_registers = c;
  Expr reduce = *c.reduce;
  reduce.args[1] = transform(reduce.args[1], [&](Expr& e) -> ExprRef {
    if (e.op != Op::Load || e.buffer != turned.buffer || e.index != turned.index) return nullptr;
    return load(block, turned.dtype,
                (Dim(c.column) - place.first_column) * kLaneCount + (Dim(c.k) - first));
  });
  in_registers.reduce = std::make_shared<const Expr>(std::move(reduce));
  const Symbol k = fresh("k", count);
  return {loop(LoopKind::Unroll, u, kLaneCount, {loop(LoopKind::Vector, l, kLaneCount, {read})}),
          loop(LoopKind::Unroll, ahead, kLaneCount, {Stmt{Prefetch{turned.buffer, later->index}}}),
          loop(LoopKind::Unroll, k, count, {multiplied(in_registers, place, acc, first + k)})};
}

// Of a depth that kStepsAtOnce divides.
int64_t Scheduler::steps_at_once(const Dim& depth) {
  std::vector<int64_t> options = doublings(1, kMostStepsAtOnce);
  std::erase_if(options, [&](int64_t count) { return !mod(depth, count).is_const(0); });
  return decide(Decision::StepsAtOnce, kStepsAtOnce, std::move(options));
}

// Steps of a right operand that has vectors of columns in memory.
Block Scheduler::multiply_in_order(const Contraction& c, const TilePlace& place, int acc,
                                   const Steps& steps) {
  const auto step = [&](const Dim& k) {
    Block body = fetches_ahead(c, place, k);
    body.push_back(multiplied(c, place, acc, k));
    return body;
  };
  const auto divides = [&](int64_t count) { return mod(c.depth, count).is_const(0); };
  const int64_t at_once = divides(kStepsAtOnce) ? steps_at_once(c.depth) : 1;
  if (at_once == 1 || !divides(at_once))
    return {loop(LoopKind::Serial, steps.k, steps.count, step(steps.first + steps.k))};
  const Dim blocks = floordiv(steps.count, at_once);
  const Symbol b = fresh("kb", blocks), u = fresh("u", at_once);
  return {loop(LoopKind::Serial, b, blocks,
               {loop(LoopKind::Unroll, u, at_once, step(steps.first + Dim(b) * at_once + u))})};
}

Block Scheduler::multiply_steps(const Contraction& c, const TilePlace& place, int acc,
                                const Steps& steps) {
  const Expr* turned = place.rows.is_in_place() && place.columns == kLaneCount && c.depth.is_const()
                           ? turned_load(c.reduce->args[1], c.k, c.column)
                           : nullptr;
  if (!turned) return multiply_in_order(c, place, acc, steps);
  const Dim blocks = floordiv(steps.count, kLaneCount);
  const int64_t left = c.depth.const_value() % kLaneCount;  // of the last steps
  const Symbol b = fresh("kb", blocks);
  Block result = {
      loop(LoopKind::Serial, b, blocks,
           multiply_turned(c, place, acc, *turned, steps.first + Dim(b) * kLaneCount, kLaneCount))};
  if (left > 0) {
    const Dim is_last = min(steps.count - blocks * kLaneCount, 1);
    result.push_back(
        loop(LoopKind::Serial, fresh("kb", is_last), is_last,
             multiply_turned(c, place, acc, *turned, steps.first + blocks * kLaneCount, left)));
  }
  return result;
}

}  // namespace tenon::schedule
