// The structure of a schedule. Parallel loops around the statements of one row become work items of a thread grid, each
// a block of rows; inside it rows go one by one (vectors over columns) or, where a contraction is among the statements,
// in tiles of several rows down a ladder of row counts that covers any number exactly.
#include <algorithm>

#include "base/error.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kElementsPerItem = 16384;  // of a row kernel: some microseconds of work
constexpr int64_t kGuessedExtent = 512;      // of a symbolic extent, where only the size of work items depends on it
constexpr int64_t kColumnGroups = 8;         // work items across the columns of a contraction

RowNest find_nest(const Kernel& kernel) {
  RowNest nest;
  Block body = kernel.body;
  while (body.size() == 1 && body[0].as<Loop>() && body[0].as<Loop>()->kind == LoopKind::Parallel) {
    const Loop l = *body[0].as<Loop>();
    nest.loops.push_back(l);
    body = *l.body;
  }
  const auto* only = body.size() == 1 ? body[0].as<Store>() : nullptr;
  // The innermost loop of a perfect nest runs over columns, unless each of its elements is a whole row reduction.
  if (only && !nest.loops.empty() && !contains(only->value, kReduce) ) nest.single_column_loop = true;
  if (only && !nest.loops.empty()) {
    for_each(only->value, [&](const Expr& e) { nest.single_column_loop = nest.single_column_loop || e.op == Op::ReduceFma; });
  }
  if (nest.single_column_loop) {
    const Loop columns = nest.loops.back();
    nest.loops.pop_back();
    body = {Stmt{columns}};
  }
  nest.body = std::move(body);
  return nest;
}

bool is_whole(const Dim& extent) { return extent.is_const() && extent.const_value() % kLaneCount == 0; }

// One store of one load, of whole 16 x 16 blocks, that reads along rows and writes along columns.
bool is_transpose(const RowNest& nest) {
  if (!nest.single_column_loop || nest.loops.empty()) return false;
  const Loop& rows = nest.loops.back();
  const Loop& columns = *nest.body[0].as<Loop>();
  const Store& s = *(*columns.body)[0].as<Store>();
  if (s.value->op != Op::Load || !s.guards.empty() || !is_whole(rows.extent) || !is_whole(columns.extent)) return false;
  for (const Guard& guard : s.value->guards) {
    if (guard.index.uses(rows.symbol) || guard.bound.uses(rows.symbol)) return false;
  }
  auto contiguous = [](const Dim& offset, const Symbol& along) { return offset.coefficient(along) == Dim(1); };
  return contiguous(s.value->index, rows.symbol) && !contiguous(s.value->index, columns.symbol) &&
         contiguous(s.offset, columns.symbol);
}

int64_t guess(const Dim& extent) { return extent.is_const() ? extent.const_value() : kGuessedExtent; }

int64_t round_to(int64_t value, int64_t multiple) { return std::max(multiple, value / multiple * multiple); }

}  // namespace

Target avx512_target(int64_t l1_bytes, int64_t l2_bytes) { return {{12, 8, 4, 1}, 32, l1_bytes, l2_bytes}; }
Target avx2_target(int64_t l1_bytes, int64_t l2_bytes) { return {{6, 4, 2, 1}, 16, l1_bytes, l2_bytes}; }

Scheduler::Scheduler(const Kernel& source, const Target& target) : source_(source), target_(target), kernel_(source) {
  kernel_.level = Level::Scheduled;
}

Symbol Scheduler::fresh(const std::string& stem, const Dim& extent) {
  return Symbol::range(stem + "." + std::to_string(names_++), extent);
}

// The thread loop: outer loops times blocks of the innermost row loop times groups, decoded from one counter.
Block Scheduler::threaded(const RowNest& nest, int64_t row_block, const Dim& groups,
                          const std::function<Block(const Dim&, const Dim&, const Dim&)>& make) {
  const Loop& rows = nest.loops.back();
  const Dim blocks = ceildiv(rows.extent, row_block);
  Dim items = blocks * groups;
  for (size_t i = 0; i + 1 < nest.loops.size(); ++i) items = items * nest.loops[i].extent;
  const Symbol item = fresh("t", items);
  Dim rest = item;
  auto take = [&](const Dim& extent, bool last) {
    const Dim value = last ? rest : mod(rest, extent);
    rest = last ? Dim(0) : floordiv(rest, extent);
    return value;
  };
  const bool only_rows = nest.loops.size() == 1;
  const Dim group = groups.is_const(1) ? Dim(0) : take(groups, false);
  const Dim block = blocks.is_const(1) ? Dim(0) : take(blocks, only_rows);
  std::map<std::string, Dim> outer;
  for (size_t i = nest.loops.size() - 1; i-- > 0;) outer.emplace(nest.loops[i].symbol.name(), take(nest.loops[i].extent, i == 0));
  const Dim first = block * row_block;
  Block body = make(first, min(rows.extent - first, row_block), group);
  for (Stmt& s : body) {
    s = substitute(s, [&](const Symbol& symbol) -> std::optional<Dim> {
      const auto it = outer.find(symbol.name());
      return it == outer.end() ? std::nullopt : std::optional<Dim>(it->second);
    });
  }
  return {loop(LoopKind::Thread, item, items, std::move(body))};
}

// One row at a time.
Block Scheduler::schedule_rows(const RowNest& nest) {
  int64_t width = 1;
  for_each(nest.body, [&](const Stmt& s) {
    if (const auto* l = s.as<Loop>()) width = std::max(width, guess(l->extent));
    if (const auto* st = s.as<Store>()) {
      for_each(st->value, [&](const Expr& e) { if (has(e.op, kReduce)) width = std::max(width, guess(e.bound)); });
    }
  });
  const int64_t row_block = std::clamp<int64_t>(kElementsPerItem / width, 1, 256);
  const Loop& rows = nest.loops.back();
  return threaded(nest, row_block, 1, [&](const Dim& first, const Dim& count, const Dim&) -> Block {
    const Symbol r = fresh("r", row_block);
    Block body;
    for (const Stmt& s : row_statements(nest.body)) body.push_back(substitute(s, replacing(rows.symbol, first + r)));
    return {loop(LoopKind::Serial, r, count, std::move(body))};
  });
}

// Columns only: blocks of them are the work items.
Block Scheduler::schedule_flat(const RowNest& nest) {
  const Loop& columns = *nest.body[0].as<Loop>();
  RowNest blocks;
  blocks.loops = {columns};
  return threaded(blocks, kElementsPerItem, 1, [&](const Dim& first, const Dim& count, const Dim&) -> Block {
    const Symbol j = fresh("j", kElementsPerItem);
    Block shifted;
    for (const Stmt& s : *columns.body) shifted.push_back(substitute(s, replacing(columns.symbol, first + j)));
    return lanes_stmt(loop(LoopKind::Parallel, j, count, std::move(shifted)));
  });
}

// A copy whose source is contiguous along rows and whose destination is contiguous along columns goes through 16 x 16
// blocks of registers: vectors in, vectors out, transposed between.
Block Scheduler::schedule_transpose(const RowNest& nest) {
  const Loop rows = nest.loops.back();
  const Loop& columns = *nest.body[0].as<Loop>();
  const Store& copy = *(*columns.body)[0].as<Store>();
  RowNest outer = nest;
  outer.loops.pop_back();
  if (outer.loops.empty()) outer.loops.push_back({fresh("once", 1), 1, LoopKind::Parallel, nullptr, {}, {}});
  const Loop items = outer.loops.back();
  const int block = kernel_.add_buffer({.name = "block", .dtype = copy.value->dtype, .elements = kLaneCount * kLaneCount,
                                        .storage = Storage::Register});
  return threaded(outer, 1, 1, [&](const Dim& item, const Dim&, const Dim&) -> Block {
    const Symbol r = fresh("r", floordiv(rows.extent, kLaneCount)), c = fresh("c", floordiv(columns.extent, kLaneCount));
    const Symbol in = fresh("u", kLaneCount), out = fresh("u", kLaneCount);
    const Symbol in_lane = fresh("l", kLaneCount), out_lane = fresh("l", kLaneCount);
    auto at = [&](const Dim& row, const Dim& column) -> SymbolMap {
      return [&, row, column](const Symbol& s) -> std::optional<Dim> {
        if (s == items.symbol) return item;
        if (s == rows.symbol) return Dim(r) * kLaneCount + row;
        if (s == columns.symbol) return Dim(c) * kLaneCount + column;
        return std::nullopt;
      };
    };
    const Stmt read = store(block, Dim(in) * kLaneCount + in_lane, substitute(copy.value, at(in_lane, in)));
    const Stmt write = store(copy.buffer, copy.offset.substitute(at(out, out_lane)),
                             load(block, copy.value->dtype, Dim(out_lane) * kLaneCount + out));
    auto vectors = [&](const Symbol& u, const Symbol& l, const Stmt& s) {
      return loop(LoopKind::Unroll, u, kLaneCount, {loop(LoopKind::Vector, l, kLaneCount, {s})});
    };
    const Stmt inner = loop(LoopKind::Serial, c, floordiv(columns.extent, kLaneCount),
                            {vectors(in, in_lane, read), vectors(out, out_lane, write)});
    return {loop(LoopKind::Serial, r, floordiv(rows.extent, kLaneCount), {inner})};
  });
}

Block Scheduler::row_statements(const Block& body) {
  Block result;
  for (const Stmt& s : body) {
    for (Stmt& made : lanes_stmt(s)) result.push_back(std::move(made));
  }
  return result;
}

// One contraction over columns: panels outside, row tiles inside, so a panel stays in cache for a whole block of rows.
Block Scheduler::schedule_contraction(const RowNest& nest, const Contraction& found) {
  const Loop& rows = nest.loops.back();
  const int64_t width = target_.tile_cols;
  const Contraction c = packed(found, nest.loops, rows.symbol);
  const Dim panels = ceildiv(c.columns, width);
  const int64_t row_bytes = guess(c.depth) * size_of(c.reduce->dtype);
  const int64_t row_block = round_to(std::min(target_.l2_bytes / 2 / row_bytes, kGuessedExtent), target_.row_steps[0]);
  const Dim per_group = panels.is_const() ? Dim((panels.const_value() + kColumnGroups - 1) / kColumnGroups) : Dim(kColumnGroups);
  const Dim groups = ceildiv(panels, per_group);
  return threaded(nest, row_block, groups, [&](const Dim& first, const Dim& count, const Dim& group) -> Block {
    const Symbol panel = fresh("p", per_group);
    const Symbol start = fresh("i", row_block);
    const Symbol step("rows." + std::to_string(names_++), {1, target_.row_steps[0]});
    const Dim column = (group * per_group + panel) * width;
    Block tiles = {ladder(start, count, step, target_.row_steps, tile(c, rows.symbol, first + start, step, column, width))};
    return {loop(LoopKind::Serial, panel, min(per_group, panels - group * per_group), std::move(tiles))};
  });
}

// Several statements, contractions among them: everything of a row tile inside the ladder.
Block Scheduler::schedule_tiles(const RowNest& nest) {
  const Loop& rows = nest.loops.back();
  const int64_t most_rows = target_.row_steps[0];
  RowNest local = nest;
  tile_row_ = fresh("row", most_rows);
  expand_locals(most_rows);
  const int64_t row_block = most_rows * 8;
  return threaded(nest, row_block, 1, [&](const Dim& first, const Dim& count, const Dim&) -> Block {
    const Symbol start = fresh("i", row_block);
    const Symbol step("rows." + std::to_string(names_++), {1, most_rows});
    const Dim first_row = first + start;

    using Loops = std::vector<Loop>;
    const std::function<Block(const Block&, const Loops&)> statements = [&](const Block& body, const Loops& around) -> Block {
      Block result, pending;  // pending: statements of single rows, done together in one loop over the tile's rows
      auto flush = [&] {
        if (pending.empty()) return;
        const Symbol r = fresh("ii", most_rows);
        Block each;
        for (const Stmt& s : row_statements(pending)) {
          each.push_back(substitute(s, [&](const Symbol& symbol) -> std::optional<Dim> {
            if (symbol == rows.symbol) return first_row + r;
            if (symbol == *tile_row_) return Dim(r);
            return std::nullopt;
          }));
        }
        result.push_back(loop(LoopKind::Serial, r, step, std::move(each)));
        pending.clear();
      };
      for (const Stmt& s : body) {
        const auto* l = s.as<Loop>();
        if (const auto found = find_contraction(s)) {
          flush();
          const Contraction c = packed(*found, around, rows.symbol);
          for (Stmt& made : tile_panels(c, rows.symbol, first_row, step)) result.push_back(std::move(made));
        } else if (l && l->kind == LoopKind::Serial) {
          flush();
          Loops inside = around;
          inside.push_back(*l);
          result.push_back(loop(LoopKind::Serial, l->symbol, l->extent, statements(*l->body, inside)));
        } else {
          pending.push_back(s);
          // A reduction ends its loop: what needs it would wait for it row by row, while other rows have work.
          if (s.as<Store>() && contains(s.as<Store>()->value, kReduce)) flush();
        }
      }
      flush();
      return result;
    };
    Block expanded = nest.body;
    const std::function<Block(const Block&)> expand = [&](const Block& block) -> Block {
      Block result = transform_exprs(block, [&](const ExprRef& root) {
        return transform(root, [&](Expr& copy) -> ExprRef {
          if (copy.op == Op::Load && row_stride_.contains(copy.buffer)) copy.index = copy.index + row_stride_.at(copy.buffer) * *tile_row_;
          return nullptr;
        });
      });
      const std::function<void(Block&)> stores = [&](Block& b) {
        for (Stmt& s : b) {
          if (auto* st = std::get_if<Store>(&s.node)) {
            if (row_stride_.contains(st->buffer)) st->offset = st->offset + row_stride_.at(st->buffer) * *tile_row_;
          } else if (auto* l = std::get_if<Loop>(&s.node)) {
            Block inner = *l->body;
            stores(inner);
            l->body = std::make_shared<const Block>(std::move(inner));
          }
        }
      };
      stores(result);
      return result;
    };
    return {ladder(start, count, step, target_.row_steps, statements(expand(expanded), nest.loops))};
  });
}

// Every local gets a copy per row of a tile.
void Scheduler::expand_locals(int64_t rows) {
  for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
    Buffer& b = kernel_.buffers[i];
    if (b.storage == Storage::Global) continue;
    row_stride_[static_cast<int>(i)] = b.elements;
    b.elements = b.elements * rows;
    b.storage = Storage::Stack;
  }
}

Scheduled Scheduler::run() {
  RowNest nest = find_nest(source_);
  const auto only = nest.body.size() == 1 ? find_contraction(nest.body[0]) : std::nullopt;
  bool any_contraction = false;
  for_each(nest.body, [&](const Stmt& s) { any_contraction = any_contraction || find_contraction(s).has_value(); });
  if (nest.loops.empty() && !(nest.single_column_loop && !any_contraction)) {
    const Symbol once = fresh("once", 1);
    nest.loops.push_back({once, 1, LoopKind::Parallel, nullptr, {}, {}});
  }
  if (only) {
    kernel_.body = schedule_contraction(nest, *only);
  } else if (any_contraction) {
    kernel_.body = schedule_tiles(nest);
  } else if (is_transpose(nest)) {
    kernel_.body = schedule_transpose(nest);
  } else if (nest.loops.empty()) {
    kernel_.body = schedule_flat(nest);
  } else {
    kernel_.body = schedule_rows(nest);
  }
  prune_buffers(kernel_);
  kernel_.dims = free_symbols(kernel_);
  Scheduled result{std::move(kernel_), {}};
  for (const Kernel& pack : packs_) {
    result.packs.push_back(Scheduler(pack, target_).run().kernel);
  }
  return result;
}

Scheduled schedule(const Kernel& lowered, const Target& target) {
  Kernel kernel = collapse_loops(lowered);
  kernel.body = transform_exprs(kernel.body, expand_math);
  return Scheduler(kernel, target).run();
}

}  // namespace tenon::schedule
