// Reductions whose neighbours in memory are results, not elements (a sum over rows): a strip of
// columns at a time, read along rows. Each column of the strip has the sixteen accumulators that a
// row reduction has in its lanes, and they are combined by the same tree: the bits do not depend on
// which of the two schedules a kernel gets.
#include <algorithm>

#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kStrip = 1024;  // a page of f32: what is prefetched of one is used
constexpr int64_t kLeastStrip = 64, kMostStrip = 4096;
constexpr int64_t kTogether = 4;  // rows added to a sum while it is in a register
constexpr int64_t kBlock = kTogether * kLaneCount;

// Halves of 8, 4, 2, 1, as lanes are combined.
ExprRef tree(Op join, std::vector<ExprRef> parts) {
  while (parts.size() > 1) {
    const size_t half = parts.size() / 2;
    for (size_t i = 0; i < half; ++i) parts[i] = pointwise(join, {parts[i], parts[i + half]});
    parts.resize(half);
  }
  return parts[0];
}

// A reduction and its sums, [sixteen][strip].
struct ColumnSums {
  Expr reduce;
  int buffer;
};

// Sums have room for whole vectors: only memory of others is masked.
Block with_whole_sums(const Block& block, const Kernel& kernel) {
  const auto is_sums = [&](int buffer) {
    return kernel.buffers[static_cast<size_t>(buffer)].storage == Storage::Scratch;
  };
  Block result;
  for (Stmt stmt : block) {
    if (auto* l = std::get_if<Loop>(&stmt.node))
      l->body = std::make_shared<const Block>(with_whole_sums(*l->body, kernel));
    if (auto* s = std::get_if<Store>(&stmt.node)) {
      if (is_sums(s->buffer)) s->guards.clear();
      s->value = transform(s->value, [&](Expr& e) -> ExprRef {
        if (e.op == Op::Load && is_sums(e.buffer)) e.guards.clear();
        return nullptr;
      });
    }
    result.push_back(std::move(stmt));
  }
  return result;
}

bool is_maximum(const ColumnSums& sums) { return sums.reduce.op == Op::ReduceMax; }

}  // namespace

// One store along columns, of reductions that read along columns.
bool reduces_columns(const RowNest& nest) {
  const auto* s = nest.body.size() == 1 ? nest.body[0].as<Store>() : nullptr;
  if (!s || nest.loops.empty() || !nest.lets.empty() || !s->guards.empty()) return false;
  const Symbol& column = nest.loops.back().symbol;
  const auto along = [](const Dim& offset, const Symbol& symbol) {
    return offset.coefficient(symbol) == Dim(1);
  };
  if (!along(s->offset, column)) return false;
  bool reads_along = false, plain = true;
  const Expr* one = nullptr;  // all of them run over one range
  for_each(s->value, [&](const Expr& e) {
    if (!has(e.op, kReduce)) return;
    plain = plain && !is_contraction(e.op) && !contains(e.args[0], kReduce);
    plain = plain && (!one || (one->range == e.range && one->bound == e.bound));
    one = &e;
    for_each(e.args[0], [&](const Expr& part) {
      if (part.op != Op::Load) return;
      reads_along |= along(part.index, column) && !along(part.index, e.range[0]);
    });
  });
  return plain && reads_along;
}

Block Scheduler::schedule_columns(const RowNest& nest) {
  const Loop& columns = nest.loops.back();
  const Store& result = *nest.body[0].as<Store>();
  const int64_t most = columns.extent.is_const()
                           ? std::min(kMostStrip, (columns.extent.const_value() + kLaneCount - 1) /
                                                      kLaneCount * kLaneCount)
                           : kMostStrip;
  const int64_t strip =
      decide(Decision::Strip, std::min(kStrip, most), doublings(kLeastStrip, most));
  return threaded(nest, strip, 1, [&](const Dim& first, const Dim& count, const Dim&) -> Block {
    const Symbol j = fresh("j", strip);
    Block body;
    std::vector<ColumnSums> all;
    const ExprRef value = transform(result.value, [&](Expr& e) -> ExprRef {
      if (!has(e.op, kReduce)) return nullptr;
      all.push_back({e, kernel_.add_buffer({.name = fresh_.name("sums"),
                                            .dtype = e.dtype,
                                            .elements = kLaneCount * strip,
                                            .storage = Storage::Scratch})});
      std::vector<ExprRef> parts;
      for (int64_t i = 0; i < kLaneCount; ++i)
        parts.push_back(load(all.back().buffer, e.dtype, i * strip + Dim(j)));
      return tree(reduction_of(e.op).join, std::move(parts));
    });
    // The statements for the columns of the strip, at local place j. What is done once or for few
    // rows is one loop of masked vectors: less to compile.
    const auto over_strip = [&](Block stores, bool often) -> Block {
      for (Stmt& s : stores) s = substitute(s, replacing(columns.symbol, first + j));
      const Stmt strip_loop = loop(LoopKind::Parallel, j, count, std::move(stores));
      if (often) return with_whole_sums(lanes_stmt(strip_loop), kernel_);
      const Dim vectors = ceildiv(count, kLaneCount);
      const Symbol c = fresh("c", vectors);
      const Stmt vector = vector_of(*strip_loop.as<Loop>(), Dim(c) * kLaneCount, true);
      return {loop(LoopKind::Serial, c, vectors, with_whole_sums({vector}, kernel_))};
    };
    // The sums of a place become what `value_of` says, for all reductions at once.
    const auto stored = [&](const Dim& place, bool often, const auto& value_of) {
      Block stores;
      for (const ColumnSums& sums : all) {
        const Dim at = place * strip + j;
        const Op join = reduction_of(sums.reduce.op).join;
        stores.push_back(store(sums.buffer, at, value_of(sums, join, at)));
      }
      return over_strip(std::move(stores), often);
    };
    // `together` rows, sixteen apart, are added to the sums of one place, the first row first.
    const auto rows = [&](const Dim& place, const Dim& first_row, int64_t together) {
      return stored(place, together > 1, [&](const ColumnSums& sums, Op join, const Dim& at) {
        ExprRef sum = load(sums.buffer, sums.reduce.dtype, at);
        for (int64_t i = 0; i < together; ++i) {
          const Dim row = first_row + i * kLaneCount;
          sum = pointwise(
              join, {sum, substitute(sums.reduce.args[0], replacing(sums.reduce.range[0], row))});
        }
        return sum;
      });
    };
    for (const ColumnSums& sums : all) {
      const Symbol i = fresh("i", kLaneCount * strip);
      const Op join = reduction_of(sums.reduce.op).join;
      for (Stmt& s : lanes_stmt(loop(LoopKind::Parallel, i, kLaneCount * strip,
                                     {store(sums.buffer, i, identity(join, sums.reduce.dtype))})))
        body.push_back(std::move(s));
    }
    const Dim depth = all[0].reduce.bound, blocks = floordiv(depth, kBlock);
    const Symbol block = fresh("b", blocks), u = fresh("u", kLaneCount);
    const Dim rest = depth - blocks * kBlock;
    if (!blocks.is_const(0)) {
      body.push_back(loop(
          LoopKind::Serial, block, blocks,
          {loop(LoopKind::Serial, u, kLaneCount, rows(u, Dim(block) * kBlock + u, kTogether))}));
    }
    const Symbol i = fresh("r", kBlock);
    if (!rest.is_const(0))
      body.push_back(
          loop(LoopKind::Serial, i, rest, rows(mod(i, kLaneCount), depth - rest + i, 1)));
    // The lanes that a masked tail of a row would have filled: a maximum drops a NaN there.
    const Dim empty = ceildiv(depth, kLaneCount) * kLaneCount - depth;
    if (std::ranges::any_of(all, is_maximum) && !empty.is_const(0)) {
      const Symbol e = fresh("e", kLaneCount);
      const auto padded = [&](const ColumnSums& sums, Op join, const Dim& at) {
        return pointwise(
            join, {load(sums.buffer, sums.reduce.dtype, at), identity(join, sums.reduce.dtype)});
      };
      body.push_back(
          loop(LoopKind::Serial, e, empty, stored(mod(depth + e, kLaneCount), false, padded)));
    }
    for (Stmt& s : over_strip({store(result.buffer, result.offset, value)}, false))
      body.push_back(std::move(s));
    return body;
  });
}

}  // namespace tenon::schedule
