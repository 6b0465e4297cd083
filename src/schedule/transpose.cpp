// Copies that turn rows into columns (keys on their way into panels, weights stored the other way
// round): read along rows and written along columns, 16 x 16 elements at a time, so that memory
// only sees whole vectors.
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

bool is_whole(const Dim& extent) {
  return extent.is_const() && extent.const_value() % kLaneCount == 0;
}

}  // namespace

// One store of one load, of whole 16 x 16 blocks, that reads along rows and writes along columns.
bool is_transpose(const RowNest& nest) {
  if (!nest.single_column_loop || nest.loops.empty()) return false;
  const Loop& rows = nest.loops.back();
  const Loop& columns = *nest.body[0].as<Loop>();
  if (columns.body->size() != 1) return false;
  const Store& s = *(*columns.body)[0].as<Store>();
  if (s.value->op != Op::Load || !s.guards.empty() || !is_whole(rows.extent) ||
      !is_whole(columns.extent))
    return false;
  for (const Guard& guard : s.value->guards) {
    if (guard.index.uses(rows.symbol) || guard.bound.uses(rows.symbol)) return false;
  }
  auto contiguous = [](const Dim& offset, const Symbol& along) {
    return offset.coefficient(along) == Dim(1);
  };
  return contiguous(s.value->index, rows.symbol) && !contiguous(s.value->index, columns.symbol) &&
         contiguous(s.offset, columns.symbol);
}

// Goes through 16 x 16 blocks of registers: vectors in, vectors out, transposed between. The loops
// outside the two innermost ranges of the nest are the caller's.
Block Scheduler::transposed(const RowNest& nest) {
  const Loop& rows = nest.loops.back();
  const Loop& columns = *nest.body[0].as<Loop>();
  const Store& copy = *(*columns.body)[0].as<Store>();
  const DType dtype = copy.value->dtype;
  const int block = kernel_.add_buffer({.name = "block" + std::to_string(names_++),
                                        .dtype = dtype,
                                        .elements = kLaneCount * kLaneCount,
                                        .storage = Storage::Register});
  const Dim row_blocks = floordiv(rows.extent, kLaneCount);
  const Dim column_blocks = floordiv(columns.extent, kLaneCount);
  const Symbol r = fresh("r", row_blocks), c = fresh("c", column_blocks);
  const Symbol in = fresh("u", kLaneCount), out = fresh("u", kLaneCount);
  const Symbol in_lane = fresh("l", kLaneCount), out_lane = fresh("l", kLaneCount);
  auto at = [&](const Dim& row, const Dim& column) -> SymbolMap {
    return [&, row, column](const Symbol& s) -> std::optional<Dim> {
      if (s == rows.symbol) return Dim(r) * kLaneCount + row;
      if (s == columns.symbol) return Dim(c) * kLaneCount + column;
      return std::nullopt;
    };
  };
  const Stmt read =
      store(block, Dim(in) * kLaneCount + in_lane, substitute(copy.value, at(in_lane, in)));
  const Stmt write = store(copy.buffer, copy.offset.substitute(at(out, out_lane)),
                           load(block, dtype, Dim(out_lane) * kLaneCount + out));
  auto vectors = [&](const Symbol& u, const Symbol& l, const Stmt& s) {
    return loop(LoopKind::Unroll, u, kLaneCount, {loop(LoopKind::Vector, l, kLaneCount, {s})});
  };
  const Stmt inner = loop(LoopKind::Serial, c, column_blocks,
                          {vectors(in, in_lane, read), vectors(out, out_lane, write)});
  return {loop(LoopKind::Serial, r, row_blocks, {inner})};
}

Block Scheduler::schedule_transpose(const RowNest& nest) {
  RowNest outer = nest;
  outer.loops.pop_back();
  if (outer.loops.empty()) {
    outer.loops.push_back({fresh("once", 1), 1, LoopKind::Parallel, nullptr, {}, {}});
  }
  const Symbol items = outer.loops.back().symbol;
  return threaded(outer, 1, 1, [&](const Dim& item, const Dim&, const Dim&) -> Block {
    Block body = transposed(nest);
    for (Stmt& s : body) s = substitute(s, replacing(items, item));
    return body;
  });
}

}  // namespace tenon::schedule
