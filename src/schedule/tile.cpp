// Contractions as register tiles. A tile of rows x columns is kept in registers over the whole
// depth (k ascending, so every element has the same bits in every tile shape), then written to a
// stack tile over which the epilogue loops.
#include "base/error.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

std::optional<Contraction> Scheduler::find_contraction(const Stmt& stmt) const {
  const auto* columns = stmt.as<Loop>();
  if (!columns || columns->kind != LoopKind::Parallel || columns->body->size() != 1)
    return std::nullopt;
  const auto* s = (*columns->body)[0].as<Store>();
  if (!s) return std::nullopt;
  std::optional<Contraction> found;
  int reductions = 0;
  transform(s->value, [&](Expr& copy) -> ExprRef {
    reductions += has(copy.op, kReduce) ? 1 : 0;
    if (copy.op != Op::ReduceFma || copy.dtype != DType::F32) return nullptr;
    found = Contraction{columns->symbol, columns->extent, s, std::make_shared<const Expr>(copy),
                        copy.range[0],   copy.bound};
    return nullptr;
  });
  return reductions == 1 ? found : std::nullopt;
}

// One register tile: rows `first_row .. + rows`, `columns` columns from `first_column`.
Block Scheduler::tile(const Contraction& c, const Symbol& row, const Dim& first_row,
                      const Symbol& rows, const Dim& first_column, int64_t columns) {
  const DType dtype = c.reduce->dtype;
  const int64_t most_rows = target_.row_steps[0];
  const int64_t vectors = columns / kLaneCount;
  const int acc = kernel_.add_buffer({.name = fresh_.name("acc"),
                                      .dtype = dtype,
                                      .elements = most_rows * columns,
                                      .storage = Storage::Register});
  const Symbol ii = fresh("ii", most_rows), jj = fresh("jj", columns);
  auto at = [&](const ExprRef& e, const Dim& in_row, const Dim& in_column) {
    return substitute(e, [&](const Symbol& s) -> std::optional<Dim> {
      if (s == row) return first_row + in_row;
      if (tile_row_ && s == *tile_row_) return in_row;
      if (s == c.column) return first_column + in_column;
      return std::nullopt;
    });
  };
  auto dim_at = [&](const Dim& d, const Dim& in_row, const Dim& in_column) {
    return at(index_value(DType::I64, d), in_row, in_column)->index;
  };
  auto each_vector = [&](const Symbol& r, LoopKind kind,
                         const std::function<Stmt(const Dim& column)>& make) {
    const Symbol u = fresh("u", vectors), l = fresh("l", kLaneCount);
    const Stmt vector = loop(LoopKind::Vector, l, kLaneCount, {make(Dim(u) * kLaneCount + l)});
    return loop(kind, r, rows, {loop(LoopKind::Unroll, u, vectors, {vector})});
  };

  // The raw result goes straight to the destination where that is a tile of ours and nothing is
  // left to apply.
  const bool direct = is_local(c.store->buffer) && c.store->value->op == Op::ReduceFma;
  int raw = c.store->buffer;
  if (!direct) {
    raw = kernel_.add_buffer({.name = fresh_.name("tile"),
                              .dtype = dtype,
                              .elements = most_rows * columns,
                              .storage = Storage::Stack});
  }
  auto raw_offset = [&](const Dim& r, const Dim& j) {
    return direct ? dim_at(c.store->offset, r, j) : r * columns + j;
  };

  const Symbol done_row = fresh("ii", most_rows);
  auto each_element = [&](const std::function<Stmt(const Dim& r, const Dim& j)>& make) {
    const Symbol r = fresh("ii", most_rows);
    return each_vector(r, LoopKind::Unroll, [&](const Dim& j) { return make(r, j); });
  };
  auto set_acc = [&](const ExprRef& value) {
    return each_element(
        [&](const Dim& r, const Dim& j) { return store(acc, r * columns + j, at(value, r, j)); });
  };
  auto multiply = [&](const SymbolMap& at_k) {
    return Stmt{Mma{MmaKind::Outer, ii, jj, rows, columns, acc,
                    substitute(at(c.reduce->args[0], ii, 0), at_k),
                    substitute(at(c.reduce->args[1], 0, jj), at_k)}};
  };
  const ExprRef init = c.reduce->args[2], zero = constant(dtype, 0);
  Block fill;
  if (c.depth.bounds().hi <= kContractionChunk) {
    fill.push_back(set_acc(init));
    fill.push_back(loop(LoopKind::Serial, c.k, c.depth, {multiply(replacing(c.k, c.k))}));
    fill.push_back(each_element([&](const Dim& r, const Dim& j) {
      return store(raw, raw_offset(r, j), load(acc, dtype, r * columns + j));
    }));
  } else {  // chunk by chunk, their sums added to the tile
    const Dim chunks = ceildiv(c.depth, kContractionChunk);
    const Symbol chunk = fresh("kc", chunks), k = fresh("k", kContractionChunk);
    const Dim first = Dim(chunk) * kContractionChunk;
    fill.push_back(each_element(
        [&](const Dim& r, const Dim& j) { return store(raw, raw_offset(r, j), zero); }));
    Block body = {
        set_acc(init->op == Op::Const && init->value == 0 ? zero
                                                          : select(in_range(chunk, 1), init, zero)),
        loop(LoopKind::Serial, k, min(c.depth - first, kContractionChunk),
             {multiply(replacing(c.k, first + k))}),
        each_element([&](const Dim& r, const Dim& j) {
          const Dim to = raw_offset(r, j);
          return store(raw, to, load(raw, dtype, to) + load(acc, dtype, r * columns + j));
        })};
    fill.push_back(loop(LoopKind::Serial, chunk, chunks, std::move(body)));
  }
  Block result = {specialize(rows, target_.row_steps, std::move(fill))};
  if (direct) return result;

  const bool partial = !mod(c.columns, columns).is_const(0);
  result.push_back(each_vector(done_row, LoopKind::Serial, [&](const Dim& j) {
    const ExprRef epilogue = transform(c.store->value, [&](Expr& copy) -> ExprRef {
      if (copy.op != Op::ReduceFma) return nullptr;
      return load(raw, dtype, Dim(done_row) * columns + j);
    });
    const Dim column = first_column + j;
    Store s = {
        c.store->buffer, dim_at(c.store->offset, done_row, j), at(epilogue, done_row, j), {}};
    if (partial) {
      s.guards.push_back({column, c.columns});
      s.value = transform(s.value, [&](Expr& copy) -> ExprRef {
        if (copy.op == Op::Load && !is_local(copy.buffer))
          copy.guards.push_back({column, c.columns});
        return nullptr;
      });
    }
    return Stmt{std::move(s)};
  }));
  return result;
}

// All columns of a contraction inside a row tile: full tiles, then one of what is left.
Block Scheduler::tile_panels(const Contraction& c, const Symbol& row, const Dim& first_row,
                             const Symbol& rows) {
  TENON_CHECK(c.columns.is_const(), "kernel {}: a tile of {} columns", source_.name,
              c.columns.to_string());
  const int64_t columns = c.columns.const_value(), width = target_.tile_cols;
  Block result;
  if (columns >= width) {
    const Symbol panel = fresh("p", columns / width);
    result.push_back(loop(LoopKind::Serial, panel, columns / width,
                          tile(c, row, first_row, rows, Dim(panel) * width, width)));
  }
  if (columns % width != 0) {
    const int64_t left = columns % width;
    TENON_CHECK(left % kLaneCount == 0, "kernel {}: {} columns do not fill vectors", source_.name,
                columns);
    for (Stmt& s : tile(c, row, first_row, rows, columns - left, left))
      result.push_back(std::move(s));
  }
  return result;
}

}  // namespace tenon::schedule
