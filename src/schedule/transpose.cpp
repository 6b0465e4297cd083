// Stores that turn rows into columns (a transpose, keys on their way into panels, weights stored
// the other way round): read along rows and written along columns, 16 x 16 elements at a time
// through registers, so that memory only sees whole vectors.
#include <algorithm>

#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

// A work item is a square of so many rows and columns: each of its pages is used for as long as
// it is in the TLB, on both sides.
constexpr int64_t kSquare = 256;
constexpr int64_t kLeastSquare = 32, kMostSquare = 2048;
// What is read so many rows later is asked for: no hardware foresees lines a row apart.
constexpr int64_t kAhead = 2 * kLaneCount;

bool is_whole(const Dim& extent) {
  return extent.is_const() && extent.const_value() % kLaneCount == 0;
}

// Too few to fill half a vector.
bool is_short(const Dim& extent) {
  return extent.is_const() && extent.const_value() < kLaneCount / 2;
}

bool is_along(const Dim& offset, const Symbol& symbol) {
  return offset.coefficient(symbol) == Dim(1);
}

}  // namespace

const Expr* turned_load(const ExprRef& value, const Symbol& row, const Symbol& column) {
  const Expr* found = nullptr;
  int count = 0;
  for_each(value, [&](const Expr& e) {
    if (e.op != Op::Load || !is_along(e.index, row) || is_along(e.index, column)) return;
    if (e.index.uses(column)) found = &e;
    ++count;
  });
  return count == 1 ? found : nullptr;
}

// One store of one turned load.
bool is_transpose(const RowNest& nest) {
  if (!nest.single_column_loop || nest.loops.empty() || !nest.lets.empty()) return false;
  const Loop& rows = nest.loops.back();
  const Loop& columns = *nest.body[0].as<Loop>();
  if (columns.body->size() != 1 || is_short(rows.extent) || is_short(columns.extent)) return false;
  const Store& s = *(*columns.body)[0].as<Store>();
  return s.guards.empty() && !contains(s.value, kReduce) && is_along(s.offset, columns.symbol) &&
         turned_load(s.value, rows.symbol, columns.symbol);
}

// `row_count` rows from the first on, likewise columns, by blocks of registers: vectors in, vectors
// out, turned between.
Block Scheduler::transposed(const RowNest& nest, const Dim& first_row, const Dim& row_count,
                            const Dim& first_column, const Dim& column_count) {
  const Loop& rows = nest.loops.back();
  const Loop& columns = *nest.body[0].as<Loop>();
  const Store& target = *(*columns.body)[0].as<Store>();
  const Expr& turned = *turned_load(target.value, rows.symbol, columns.symbol);
  const int block = kernel_.add_buffer({.name = fresh_.name("block"),
                                        .dtype = turned.dtype,
                                        .elements = kLaneCount * kLaneCount,
                                        .storage = Storage::Register});
  const Dim row_blocks = ceildiv(row_count, kLaneCount);
  const Dim column_blocks = ceildiv(column_count, kLaneCount);
  const Symbol r = fresh("r", row_blocks), c = fresh("c", column_blocks);
  struct Element {
    Dim row, column;
    std::vector<Guard> guards;
  };
  const auto element = [&](const Dim& row, const Dim& column) {
    Element e{
        first_row + Dim(r) * kLaneCount + row, first_column + Dim(c) * kLaneCount + column, {}};
    if (!is_whole(rows.extent)) e.guards.push_back({e.row, rows.extent});
    if (!is_whole(columns.extent)) e.guards.push_back({e.column, columns.extent});
    return e;
  };
  const auto at = [&](const Element& e) -> SymbolMap {
    return [&rows, &columns, e](const Symbol& s) -> std::optional<Dim> {
      if (s == rows.symbol) return e.row;
      if (s == columns.symbol) return e.column;
      return std::nullopt;
    };
  };
  const auto guarded = [](const ExprRef& value, const Element& e) {
    return transform(value, [&](Expr& copy) -> ExprRef {
      if (copy.op == Op::Load)
        copy.guards.insert(copy.guards.end(), e.guards.begin(), e.guards.end());
      return nullptr;
    });
  };
  const Symbol in = fresh("u", kLaneCount), in_lane = fresh("l", kLaneCount);
  const Element read = element(in_lane, in);
  const ExprRef source = load(turned.buffer, turned.dtype, turned.index, turned.guards);
  const Stmt reads =
      store(block, Dim(in) * kLaneCount + in_lane, guarded(substitute(source, at(read)), read));
  const Symbol ahead = fresh("u", kLaneCount);
  const Stmt fetches{
      Prefetch{turned.buffer, turned.index.substitute(at(element(0, Dim(ahead) + kAhead)))}};
  const Symbol out = fresh("u", kLaneCount), out_lane = fresh("l", kLaneCount);
  const Element write = element(out, out_lane);
  const ExprRef value =
      transform(guarded(substitute(target.value, at(write)), write), [&](Expr& copy) -> ExprRef {
        if (copy.op != Op::Load || copy.buffer != turned.buffer ||
            copy.index != turned.index.substitute(at(write)))
          return nullptr;
        return load(block, turned.dtype, Dim(out_lane) * kLaneCount + out);
      });
  const bool streamed = !is_local(target.buffer);
  const Stmt writes{
      Store{target.buffer, target.offset.substitute(at(write)), value, write.guards, streamed}};
  const auto vectors = [&](const Symbol& u, const Symbol& l, const Stmt& s) {
    return loop(LoopKind::Unroll, u, kLaneCount, {loop(LoopKind::Vector, l, kLaneCount, {s})});
  };
  return {
      loop(LoopKind::Serial, r, row_blocks,
           {loop(LoopKind::Serial, c, column_blocks,
                 {vectors(in, in_lane, reads), loop(LoopKind::Unroll, ahead, kLaneCount, {fetches}),
                  vectors(out, out_lane, writes)})})};
}

Block Scheduler::schedule_transpose(const RowNest& nest) {
  const Dim& columns = nest.body[0].as<Loop>()->extent;
  const int64_t square = decide(Decision::Square, kSquare, doublings(kLeastSquare, kMostSquare));
  return threaded(nest, square, ceildiv(columns, square),
                  [&](const Dim& first, const Dim& count, const Dim& group) {
                    const Dim column = group * square;
                    return transposed(nest, first, count, column, min(columns - column, square));
                  });
}

}  // namespace tenon::schedule
