// Kernels with contractions among several statements (attention): all statements of a tile of rows
// inside one ladder. Locals get a copy per row of the tile; statements of single rows between two
// contractions share a loop over its rows.
#include <algorithm>
#include <utility>

#include "base/error.h"
#include "schedule/add_pack.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

// Of how many tiles the right operands are read where they lie: more gain by panels.
constexpr int64_t kTilesInPlace = 2;
constexpr int64_t kMostTilesInPlace = 8;
constexpr int64_t kMostRowsPerItem = 2048;

// The extent, rounded up so that a ladder of these steps covers it in the fewest tiles.
Dim covered(const Dim& extent, const std::vector<int64_t>& steps) {
  const Dim whole = floordiv(extent - 1, steps[0]) * steps[0];
  Dim left = 1;
  for (size_t i = 1; i < steps.size(); ++i) {
    const Dim more = min(max(extent - whole - steps[i], 0), 1);
    left = left + more * (steps[i - 1] - steps[i]);
  }
  return whole + left;
}

// Applies `change` to every access of a block, loads and stores alike.
Block map_accesses(const Block& block,
                   const std::function<Dim(int buffer, const Dim& offset)>& change) {
  Block result = transform_exprs(block, [&](const ExprRef& root) {
    return transform(root, [&](Expr& copy) -> ExprRef {
      if (copy.op == Op::Load) copy.index = change(copy.buffer, copy.index);
      return nullptr;
    });
  });
  const std::function<void(Block&)> stores = [&](Block& inner) {
    for (Stmt& s : inner) {
      if (auto* st = std::get_if<Store>(&s.node)) st->offset = change(st->buffer, st->offset);
      if (auto* l = std::get_if<Loop>(&s.node)) {
        Block body = *l->body;
        stores(body);
        l->body = std::make_shared<const Block>(std::move(body));
      }
    }
  };
  stores(result);
  return result;
}

// The largest extent among rows, of one that only grows or only shrinks along them.
Dim greatest(const Dim& extent, const Symbol& row, const Dim& first, const Dim& last) {
  if (!extent.uses(row)) return extent;
  return max(extent.substitute(row, first), extent.substitute(row, last));
}

std::vector<Loop> concat(std::vector<Loop> outer, const std::vector<Loop>& inner) {
  outer.insert(outer.end(), inner.begin(), inner.end());
  return outer;
}

}  // namespace

// Whether there are no more right operands (keys) than rows, but for a last block of them: few rows
// have few then, and nothing is gained by reading those where they lie.
bool Scheduler::is_as_short(const Block& body, const Dim& rows, const Dim& blocks) const {
  return std::ranges::all_of(body, [&](const Stmt& stmt) {
    const auto* l = stmt.as<Loop>();
    if (l && l->kind == LoopKind::Serial) return is_as_short(*l->body, rows, blocks * l->extent);
    const auto sum = find_contraction(stmt);
    if (!sum || !sum->depth.is_const()) return true;  // its depth is the columns of another one
    return (rows + sum->columns - 1 - blocks * sum->columns).bounds().lo >= 0;
  });
}

Block Scheduler::schedule_tiles(const RowNest& nest) {
  const int64_t most_rows = target_.row_steps[0];
  const int64_t row_block =
      decide(Decision::RowBlock, (kRowsPerItem + most_rows - 1) / most_rows * most_rows,
             doublings(most_rows, kMostRowsPerItem));
  tile_row_ = fresh("row", most_rows);
  const Block body = with_local_rows(nest.body, most_rows);
  const Loop& rows = nest.loops.back();
  const int64_t tiles_in_place =
      decide(Decision::TilesInPlace, kTilesInPlace, doublings(1, kMostTilesInPlace));
  if (!is_as_short(nest.body, rows.extent, 1))
    stages_ = min(max(rows.extent - tiles_in_place * target_.row_steps[0], 0), 1);
  const Dim in_place = 1 - stages_;
  return threaded(nest, row_block, 1, [&](const Dim& first, const Dim& count, const Dim&) -> Block {
    const Symbol start = fresh("i", row_block);
    const Symbol step(fresh_.name("rows."), {1, most_rows});
    const auto item = [&](RowTile tile, const Dim& extent) -> Block {
      Block tiles = tile_statements(body, tile, nest.loops, {});
      Block made = std::exchange(staging_, {});
      made.push_back(ladder(start, extent, step, target_.row_steps, std::move(tiles)));
      return made;
    };
    RowTile tile{rows.symbol, first + start, step, {}};
    Block staged = item(tile, count);
    if (staged.size() == 1 || in_place.is_const(0)) return staged;  // or nothing is to be staged
    tile.last_in_place = rows.extent - 1;
    Block read = item(tile, covered(count, target_.row_steps));
    if (in_place.is_const(1)) return read;
    return {loop(LoopKind::Serial, fresh("many", stages_), stages_, std::move(staged)),
            loop(LoopKind::Serial, fresh("few", in_place), in_place, std::move(read))};
  });
}

// Every local gets a copy per row of a tile, at tile_row_ times its size. Scalars of the rows fill
// a whole vector, so that rows can be lanes.
Block Scheduler::with_local_rows(const Block& body, int64_t rows) {
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    Buffer& b = kernel_.buffers[i];
    if (b.storage == Storage::Global) continue;
    row_size_[static_cast<int>(i)] = b.elements;
    b.elements = b.elements * (b.elements.is_const(1) ? std::max(rows, kLaneCount) : rows);
    if (b.storage == Storage::Register) b.storage = Storage::Stack;
  }
  return map_accesses(body, [&](int buffer, const Dim& offset) {
    const auto it = row_size_.find(buffer);
    return it == row_size_.end() ? offset : offset + it->second * *tile_row_;
  });
}

// Whether a statement computes a scalar of the row from scalars of the row.
bool Scheduler::is_row_scalar(const Stmt& stmt) const {
  auto scalar = [&](int buffer) {
    const auto it = row_size_.find(buffer);
    return it != row_size_.end() && it->second.is_const(1);
  };
  const auto* s = stmt.as<Store>();
  if (!s || !scalar(s->buffer) || contains(s->value, kReduce)) return false;
  bool result = true;
  for_each(s->value, [&](const Expr& e) { result &= e.op != Op::Load || scalar(e.buffer); });
  return result;
}

// `grid` are the loops around a work item, `around` those between it and the statements.
Block Scheduler::tile_statements(const Block& body, const RowTile& tile,
                                 const std::vector<Loop>& grid, const std::vector<Loop>& around) {
  Block result, pending;  // pending: statements of single rows
  auto flush = [&] {
    if (!pending.empty()) result.push_back(each_row(pending, tile, around.empty()));
    pending.clear();
  };
  for (const Stmt& s : body) {
    const auto* l = s.as<Loop>();
    if (const auto found = find_contraction(s)) {
      flush();
      TENON_CHECK(!uses(found->reduce->args[1], tile.row), "kernel {}: operand depends on the row",
                  source_.name);
      const Contraction c = is_constant(kernel_, found->reduce->args[1])
                                ? packed(*found, concat(grid, around))
                            : tile.is_in_place() ? *found
                                                 : staged(*found, around);
      for (Stmt& made : tile_panels(c, tile)) result.push_back(std::move(made));
    } else if (l && l->kind == LoopKind::Serial) {
      flush();
      // A tile goes as far as one of its rows does: what lies past a row's own extent (keys that it
      // does not see) changes nothing for it.
      const auto among = [&](const Dim& first, const Dim& last) {
        return greatest(l->extent, tile.row, first, last);
      };
      std::vector<Loop> inside = around;
      inside.push_back(*l);
      inside.back().extent = among(0, grid.back().extent - 1);
      result.push_back(loop(LoopKind::Serial, l->symbol,
                            among(tile.at(0), tile.at(Dim(tile.count) - 1)),
                            tile_statements(*l->body, tile, grid, inside)));
    } else {
      if (!pending.empty() && is_row_scalar(pending.back()) != is_row_scalar(s)) flush();
      pending.push_back(s);
      // A reduction ends its loop: what needs it would wait for it row by row, while other rows
      // have work.
      if (s.as<Store>() && contains(s.as<Store>()->value, kReduce)) flush();
    }
  }
  flush();
  return result;
}

// The lines of memory that the statements read of the same row of the next tile: no hardware
// foresees rows that lie pages apart.
Block Scheduler::fetches_of_next_tile(const Block& statements, const RowTile& tile,
                                      const Symbol& r) const {
  Block result;
  const Dim next = tile.at(Dim(r) + target_.row_steps[0]);
  for (const Stmt& stmt : statements) {
    const auto* columns = stmt.as<Loop>();
    if (!columns || !columns->extent.is_const() || columns->body->size() != 1) continue;
    const auto* s = (*columns->body)[0].as<Store>();
    if (!s) continue;
    for_each(s->value, [&](const Expr& e) {
      if (e.op != Op::Load || is_local(e.buffer) || !e.index.uses(tile.row) ||
          e.index.coefficient(columns->symbol) != Dim(1))
        return;
      const auto at = [&](int64_t column) {
        return e.index.substitute(tile.row, next).substitute(columns->symbol, column);
      };
      for (Stmt& fetched : fetches_of_lines(e.buffer, columns->extent.const_value(), at))
        result.push_back(std::move(fetched));
    });
  }
  return result;
}

// Statements of single rows: one row after the other, or, for scalars, the tile's rows as lanes.
Stmt Scheduler::each_row(const Block& statements, const RowTile& tile, bool once) {
  const bool scalars = is_row_scalar(statements[0]);
  const Symbol r = fresh("ii", scalars ? kLaneCount : target_.row_steps[0]);
  Block body;
  if (once && !scalars) body = fetches_of_next_tile(statements, tile, r);
  for (const Stmt& s : scalars ? statements : row_statements(statements)) {
    body.push_back(substitute(s, [&](const Symbol& symbol) -> std::optional<Dim> {
      if (symbol == tile.row) return tile.at(r);
      if (symbol == *tile_row_) return Dim(r);
      return std::nullopt;
    }));
  }
  if (scalars) return loop(LoopKind::Vector, r, kLaneCount, std::move(body));
  return loop(LoopKind::Serial, r, tile.count, std::move(body));
}

}  // namespace tenon::schedule
