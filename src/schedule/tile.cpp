// Contractions as register tiles. A tile of rows x columns is kept in registers over the whole
// depth (k ascending, so every element has the same bits in every tile shape), then written to a
// stack tile over which the epilogue loops.
#include <algorithm>

#include "base/error.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

// Of the outermost reductions of the store's value, in the order of replace_reductions.
std::vector<Contraction> Scheduler::find_contractions(const Stmt& stmt) const {
  const auto* columns = stmt.as<Loop>();
  if (!columns || columns->kind != LoopKind::Parallel || columns->body->size() != 1) return {};
  const auto* s = (*columns->body)[0].as<Store>();
  if (!s) return {};
  std::vector<Contraction> found;
  bool fits = true;
  replace_reductions(s->value, [&](const Expr& e) {
    fits = fits && is_contraction(e.op) && (e.dtype == DType::F32 || e.dtype == DType::I32) &&
           std::ranges::none_of(e.args, [](const ExprRef& arg) { return contains(arg, kReduce); });
    auto reduce = std::make_shared<const Expr>(e);
    found.push_back({columns->symbol, columns->extent, s, reduce, e.range[0], e.bound});
    return ExprRef(reduce);
  });
  return fits ? found : std::vector<Contraction>();
}

std::optional<Contraction> Scheduler::find_contraction(const Stmt& stmt) const {
  const auto found = find_contractions(stmt);
  return found.size() == 1 ? std::optional(found[0]) : std::nullopt;
}

ExprRef Scheduler::in_tile(const ExprRef& e, const Contraction& c, const TilePlace& place,
                           const Dim& in_row, const Dim& in_column) const {
  return substitute(e, [&](const Symbol& s) -> std::optional<Dim> {
    if (s == place.rows.row) return place.rows.at(in_row);
    if (tile_row_ && s == *tile_row_) return in_row;
    if (s == c.column) return place.first_column + in_column;
    return std::nullopt;
  });
}

// Loops over the tile's rows `r` and over vectors of its columns.
Stmt Scheduler::each_vector(const TilePlace& place, const Symbol& r, LoopKind kind,
                            const std::function<Stmt(const Dim& column)>& make) {
  const int64_t vectors = place.columns / kLaneCount;
  const Symbol u = fresh("u", vectors), l = fresh("l", kLaneCount);
  const Stmt vector = loop(LoopKind::Vector, l, kLaneCount, {make(Dim(u) * kLaneCount + l)});
  return loop(kind, r, place.rows.count, {loop(LoopKind::Unroll, u, vectors, {vector})});
}

// The contraction of one register tile, from its accumulators to `raw`.
Block Scheduler::tile_sum(const Contraction& c, const TilePlace& place, int raw,
                          const TileOffset& raw_offset) {
  const DType dtype = c.reduce->dtype;
  const int64_t most_rows = target_.row_steps[0], columns = place.columns;
  const int acc = kernel_.add_buffer({.name = fresh_.name("acc"),
                                      .dtype = dtype,
                                      .elements = most_rows * columns,
                                      .storage = Storage::Register});
  auto at = [&](const ExprRef& e, const Dim& in_row, const Dim& in_column) {
    return in_tile(e, c, place, in_row, in_column);
  };
  auto each_element = [&](const std::function<Stmt(const Dim& r, const Dim& j)>& make) {
    const Symbol r = fresh("ii", most_rows);
    return each_vector(place, r, LoopKind::Unroll, [&](const Dim& j) { return make(r, j); });
  };
  auto set_acc = [&](const ExprRef& value) {
    return each_element(
        [&](const Dim& r, const Dim& j) { return store(acc, r * columns + j, at(value, r, j)); });
  };
  const ExprRef init = c.reduce->args[2], zero = constant(dtype, 0);
  Block fill;
  if (c.depth.bounds().hi <= kContractionChunk || !is_float(dtype)) {  // integers: in any order
    fill = multiply_steps(c, place, acc, {c.k, 0, c.depth});
    fill.insert(fill.begin(), set_acc(init));
    fill.push_back(each_element([&](const Dim& r, const Dim& j) {
      return store(raw, raw_offset(r, j), load(acc, dtype, r * columns + j));
    }));
  } else {  // chunk by chunk, their sums added to the tile
    const Dim chunks = ceildiv(c.depth, kContractionChunk);
    const Symbol chunk = fresh("kc", chunks), k = fresh("k", kContractionChunk);
    const Dim first = Dim(chunk) * kContractionChunk;
    fill.push_back(each_element(
        [&](const Dim& r, const Dim& j) { return store(raw, raw_offset(r, j), zero); }));
    const bool from_zero = init->op == Op::Const && init->value == 0;
    Block body = multiply_steps(c, place, acc, {k, first, min(c.depth - first, kContractionChunk)});
    body.insert(body.begin(), set_acc(from_zero ? zero : select(in_range(chunk, 1), init, zero)));
    body.push_back(each_element([&](const Dim& r, const Dim& j) {
      const Dim to = raw_offset(r, j);
      return store(raw, to, load(raw, dtype, to) + load(acc, dtype, r * columns + j));
    }));
    fill.push_back(loop(LoopKind::Serial, chunk, chunks, std::move(body)));
  }
  return fill;
}

// One register tile of each of the contractions of a store, one after the other, then the store.
Block Scheduler::tile(const std::vector<Contraction>& sums, const TilePlace& place) {
  const Contraction& c = sums[0];
  const int64_t most_rows = target_.row_steps[0], columns = place.columns;
  auto dim_at = [&](const Dim& d, const Dim& in_row, const Dim& in_column) {
    return in_tile(index_value(DType::I64, d), c, place, in_row, in_column)->index;
  };
  // The raw result goes straight to the destination where that is a tile of ours and nothing is
  // left to apply.
  if (is_local(c.store->buffer) && is_contraction(c.store->value->op)) {
    const auto offset = [&](const Dim& r, const Dim& j) { return dim_at(c.store->offset, r, j); };
    return {specialize(place.rows.count, target_.row_steps,
                       tile_sum(c, place, c.store->buffer, offset))};
  }
  const auto raw_offset = [&](const Dim& r, const Dim& j) { return r * columns + j; };
  std::vector<int> raw;
  Block fill;
  for (const Contraction& sum : sums) {
    raw.push_back(kernel_.add_buffer({.name = fresh_.name("tile"),
                                      .dtype = sum.reduce->dtype,
                                      .elements = most_rows * columns,
                                      .storage = Storage::Stack}));
    for (Stmt& s : tile_sum(sum, place, raw.back(), raw_offset)) fill.push_back(std::move(s));
  }
  Block result = {specialize(place.rows.count, target_.row_steps, std::move(fill))};

  const Symbol done_row = fresh("ii", most_rows);
  const bool partial = !mod(c.columns, columns).is_const(0);
  result.push_back(each_vector(place, done_row, LoopKind::Serial, [&](const Dim& j) {
    auto next = raw.begin();
    const ExprRef epilogue = replace_reductions(c.store->value, [&](const Expr& sum) {
      return load(*next++, sum.dtype, raw_offset(done_row, j));
    });
    const Dim column = place.first_column + j;
    Store s = {c.store->buffer,
               dim_at(c.store->offset, done_row, j),
               in_tile(epilogue, c, place, done_row, j),
               {}};
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
Block Scheduler::tile_panels(const Contraction& c, const RowTile& rows) {
  TENON_CHECK(c.columns.is_const(), "kernel {}: a tile of {} columns", source_.name,
              c.columns.to_string());
  const bool turned = rows.is_in_place() && turned_load(c.reduce->args[1], c.k, c.column);
  const int64_t columns = c.columns.const_value();
  const int64_t width = turned ? kLaneCount : target_.tile_cols;
  Block result;
  if (columns >= width) {
    const Symbol panel = fresh("p", columns / width);
    result.push_back(loop(LoopKind::Serial, panel, columns / width,
                          tile({c}, {rows, Dim(panel) * width, width})));
  }
  if (columns % width != 0) {
    const int64_t left = columns % width;
    TENON_CHECK(left % kLaneCount == 0, "kernel {}: {} columns do not fill vectors", source_.name,
                columns);
    for (Stmt& s : tile({c}, {rows, columns - left, left})) result.push_back(std::move(s));
  }
  return result;
}

}  // namespace tenon::schedule
