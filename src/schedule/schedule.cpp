// Finds the structure of a lowered kernel, picks the kind of schedule, and cleans up after it.
// Parallel loops around the statements of one row become work items of a thread grid, each a block
// of rows; inside it rows go one by one (vectors over columns) or, where a contraction is among the
// statements, in tiles of several rows.
#include "schedule/schedule.h"

#include <algorithm>

#include "base/error.h"
#include "schedule/dots.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

RowNest Scheduler::find_row_nest() const {
  RowNest nest{find_nest(source_.body)};
  Block& body = nest.body;
  // The innermost loop of a perfect nest runs over columns, unless each of its elements is a whole
  // row reduction.
  const auto* only = body.size() == 1 ? body[0].as<Store>() : nullptr;
  if (only && !nest.loops.empty()) {
    nest.single_column_loop = !contains(only->value, kReduce);
    for_each(only->value, [&](const Expr& e) { nest.single_column_loop |= is_contraction(e.op); });
  } else if (!nest.loops.empty()) {
    nest.single_column_loop = is_vector_body(body, nest.loops.back().symbol);
  }
  if (nest.single_column_loop) {
    const Loop columns = nest.loops.back();
    nest.loops.pop_back();
    body = {Stmt{columns}};
  }
  return nest;
}

// 16 accumulators hide the latency of the multiply-adds; with more rows the right operand would be
// loaded less often, which is no limit, but there would be more code. And where the stride of rows
// is a power of two, 8 of them fit into the ways of their set of the L1 cache, and 12 do not.
Target avx512_target(int64_t l1_bytes, int64_t l2_bytes) {
  return {{8, 4, 1}, 32, l1_bytes, l2_bytes};
}
Target avx2_target(int64_t l1_bytes, int64_t l2_bytes) {
  return {{6, 4, 2, 1}, 16, l1_bytes, l2_bytes};
}

Scheduler::Scheduler(const Kernel& source, const Target& target, const Choice& choice)
    : source_(source), target_(target), kernel_(source), fresh_(source.dims), decisions_(choice) {
  kernel_.level = Level::Scheduled;
}

bool Scheduler::right_operand_uses(const Block& body, const Symbol& symbol) const {
  bool result = false;
  for_each(body, [&](const Stmt& s) {
    for (const Contraction& c : find_contractions(s)) result |= uses(c.reduce->args[1], symbol);
  });
  return result;
}

// Whether the contractions of a body, if it has any, can be tiles: nothing that is looked up is
// around them, and where there are several statements their columns fill vectors.
bool Scheduler::has_tiles(const RowNest& nest) const {
  bool found = false, fits = nest.lets.empty();
  for_each(nest.body, [&](const Stmt& s) {
    fits = fits && !s.as<Let>();
    const auto sums = find_contractions(s);
    if (sums.empty()) return;
    found = true;
    const Dim& columns = sums[0].columns;
    const bool alone = nest.body.size() == 1 && s.as<Loop>() == nest.body[0].as<Loop>();
    fits = fits && (alone || (sums.size() == 1 && columns.is_const() &&
                              columns.const_value() % target_.tile_cols % kLaneCount == 0));
  });
  return found && fits;
}

Scheduled Scheduler::run() {
  RowNest nest = find_row_nest();
  const bool any_contraction = !target_.plain && has_tiles(nest);
  const auto only = any_contraction && nest.body.size() == 1 ? find_contractions(nest.body[0])
                                                             : std::vector<Contraction>();
  // Rows of a tile share the right operand: where it belongs to the row (batches of one row each),
  // the tile's row is a loop of one.
  const bool own_operand = any_contraction && !nest.loops.empty() &&
                           right_operand_uses(nest.body, nest.loops.back().symbol);
  if (own_operand || (nest.loops.empty() && !(nest.single_column_loop && !any_contraction))) {
    nest.loops.push_back({fresh("once", 1), 1, LoopKind::Parallel, nullptr, {}, {}});
  }
  if (!only.empty()) {
    kernel_.body =
        only.size() == 1 && stages_columns(nest, only[0]) ? schedule_windows(nest, only[0])
        : only.size() == 1 && stages_rows(nest, only[0])  ? schedule_staged_rows(nest, only[0])
                                                          : schedule_contraction(nest, only);
  } else if (any_contraction) {
    kernel_.body = schedule_tiles(nest);
  } else if (!target_.plain && is_transpose(nest)) {
    kernel_.body = schedule_transpose(nest);
  } else if (!target_.plain && reduces_columns(nest)) {
    kernel_.body = schedule_columns(nest);
  } else if (nest.loops.empty()) {
    kernel_.body = schedule_flat(nest);
  } else {
    kernel_.body = schedule_rows(nest);
  }
  if (!nest.lets.empty()) {
    const Loop& items = *kernel_.body[0].as<Loop>();
    Block inside = row_statements(nest.lets);
    inside.insert(inside.end(), items.body->begin(), items.body->end());
    kernel_.body = {loop(LoopKind::Thread, items.symbol, items.extent, std::move(inside))};
  }
  finish(kernel_, source_);
  Scheduled result{std::move(kernel_), {}, decisions_.take()};
  for (const Kernel& pack : packs_) {
    result.packs.push_back(Scheduler(pack, target_, {}).run().kernel);
  }
  return result;
}

Scheduled schedule(const Kernel& lowered, const Target& target, const Choice& choice) {
  Kernel kernel = collapse_loops(lowered);
  if (target.dot2) kernel = with_dot2(kernel);
  if (target.dot4) kernel = with_dot4(kernel);
  kernel.body = transform_exprs(kernel.body, expand_math);
  return Scheduler(kernel, target, choice).run();
}

}  // namespace tenon::schedule
