// Kernels without contractions: each work item is a block of rows, taken one by one with vectors
// over columns; a kernel of one dimension is cut into blocks of columns instead.
#include <algorithm>

#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kElementsPerItem = 16384;  // some microseconds of work
constexpr int64_t kLeastElements = 1024, kMostElements = 1 << 18;
constexpr int64_t kMostRowsPerItem = 256;

}  // namespace

// One row at a time.
Block Scheduler::schedule_rows(const RowNest& nest) {
  int64_t width = 1;
  for_each(nest.body, [&](const Stmt& s) {
    if (const auto* l = s.as<Loop>()) width = std::max(width, guess(l->extent));
    if (const auto* st = s.as<Store>()) {
      for_each(st->value, [&](const Expr& e) {
        if (has(e.op, kReduce)) width = std::max(width, guess(e.bound));
      });
    }
  });
  const int64_t row_block =
      decide(Decision::RowBlock, std::clamp<int64_t>(kElementsPerItem / width, 1, kMostRowsPerItem),
             doublings(1, kMostRowsPerItem));
  const Loop& rows = nest.loops.back();
  return threaded(nest, row_block, 1, [&](const Dim& first, const Dim& count, const Dim&) -> Block {
    const Symbol r = fresh("r", row_block);
    Block body;
    for (const Stmt& s : row_statements(nest.body))
      body.push_back(substitute(s, replacing(rows.symbol, first + r)));
    return {loop(LoopKind::Serial, r, count, std::move(body))};
  });
}

// Columns only: blocks of them are the work items.
Block Scheduler::schedule_flat(const RowNest& nest) {
  const Loop& columns = *nest.body[0].as<Loop>();
  RowNest blocks;
  blocks.loops = {columns};
  const int64_t elements =
      decide(Decision::ItemElements, kElementsPerItem, doublings(kLeastElements, kMostElements));
  return threaded(blocks, elements, 1,
                  [&](const Dim& first, const Dim& count, const Dim&) -> Block {
                    const Symbol j = fresh("j", elements);
                    Block shifted;
                    for (const Stmt& s : *columns.body)
                      shifted.push_back(substitute(s, replacing(columns.symbol, first + j)));
                    return lanes_stmt(loop(LoopKind::Parallel, j, count, std::move(shifted)));
                  });
}

// The first statement goes through a row as fast as memory gives it; a reduction after it finds the
// row in a cache, and memory has time for what the next loop writes.
Block Scheduler::row_statements(const Block& body) {
  Block result;
  const auto written_after = [&](size_t i) -> const Loop* {
    const auto* next = i > 0 && i + 1 < body.size() ? body[i + 1].as<Loop>() : nullptr;
    return next && next->kind == LoopKind::Parallel ? next : nullptr;
  };
  for (size_t i = 0; i < body.size(); ++i) {
    if (i + 1 < body.size() && fills_reduction(body[i], body[i + 1])) {
      Store s = *body[i + 1].as<Store>();
      const Beside beside{.filling = body[i].as<Loop>(),
                          .written = i > 0 ? written_after(i + 1) : nullptr};
      s.value = without_reductions(s.value, result, beside);
      result.push_back(Stmt{std::move(s)});
      ++i;
      continue;
    }
    for (Stmt& made : lanes_stmt(body[i], written_after(i))) result.push_back(std::move(made));
  }
  return result;
}

}  // namespace tenon::schedule
