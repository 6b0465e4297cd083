// A contraction of constant weights whose rows do not lie one after the other: a convolution over
// an image whose channels lie innermost. Each work item copies the windows of its positions, the
// rows, into the worker's scratch memory, where they stay in its cache, and passes row tiles over
// panels of the weights. A copied element is multiplied with all columns of the item, so items take
// all of them, unless there are too few rows for the threads.
#include <algorithm>

#include "schedule/add_pack.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kManyItems = 16;   // of an image: threads end at about the same time
constexpr int64_t kLeastRows = 60;   // that each panel must serve: it may come from memory
constexpr int64_t kFewItems = 8;     // fewer than this, and columns are divided too
constexpr int64_t kLeastPanels = 4;  // that a copied row must serve
constexpr int64_t kMostRowsPerItem = 1024;
constexpr int64_t kElementBytes = 4;  // of a copied element: f32, i32, or four bytes

// The least constant that divides k in an index of `value`: steps of k up to there (the channels of
// a tap) lie side by side; the depth: there is none.
int64_t run_of(const ExprRef& value, const Symbol& k, int64_t depth) {
  int64_t run = depth;
  for (const int64_t divisor : divisors_of(value, k)) run = std::min(run, divisor);
  return depth % run == 0 ? run : depth;
}

}  // namespace

bool Scheduler::stages_rows(const RowNest& nest, const Contraction& c) const {
  const ExprRef &left = c.reduce->args[0], &right = c.reduce->args[1];
  const bool fits = size_of(left->dtype) == kElementBytes && is_constant(kernel_, right) &&
                    !is_constant(kernel_, left) && c.depth.is_const() && !c.depth.is_const(0);
  if (!fits) return false;
  bool in_line = true;
  for_each(left, [&](const Expr& e) {
    if (e.op != Op::Load) return;
    in_line = in_line && e.guards.empty() && e.index.coefficient(c.k) &&
              e.index.coefficient(nest.loops.back().symbol);
  });
  return !in_line;
}

// The statements that copy the rows, runs of k as vectors.
Block Scheduler::stage_rows(const Contraction& c, const RowBlock& rows, const Stage& stage) {
  const int64_t depth = c.depth.const_value();
  const int64_t run = run_of(c.reduce->args[0], c.k, depth);
  const Symbol r = fresh("r", rows.most), t = fresh("t", depth / run), inside = fresh("c", run);
  // By a symbol of its own first: it is known to stay inside of the run.
  const Dim k = Dim(t) * run + inside;
  const ExprRef element = substitute(c.reduce->args[0], [&](const Symbol& s) -> std::optional<Dim> {
    if (s == rows.row) return rows.first + r;
    if (s == c.k) return k;
    return std::nullopt;
  });
  Block copy = lanes(run, [&](const Dim& first, bool tail) -> Block {
    const Symbol lane = fresh("l", kLaneCount);
    const Dim at = first + lane;
    ExprRef value = substitute(element, replacing(inside, at));
    // What is stored past the run is the next one's place, or the space between rows.
    if (tail) {
      value = transform(value, [&](Expr& e) -> ExprRef {
        if (e.op == Op::Load) e.guards.push_back({at, run});
        return nullptr;
      });
    }
    return {loop(LoopKind::Vector, lane, kLaneCount,
                 {store(stage.buffer, Dim(r) * stage.stride + Dim(t) * run + at, value)})};
  });
  return {loop(LoopKind::Serial, r, rows.count,
               {loop(LoopKind::Serial, t, depth / run, std::move(copy))})};
}

// How many of `count` rows a work item copies.
int64_t Scheduler::staged_rows(int64_t count, int64_t stride) {
  const int64_t steps = target_.row_steps[0];
  const int64_t fitting = target_.l2_bytes / (stride * kElementBytes);
  const int64_t half = std::max(fitting / 2, steps);
  const bool at_once = count <= std::min(kLeastRows, fitting);
  const int64_t rows =
      at_once ? count : std::clamp(divided_up(count, kManyItems), std::min(kLeastRows, half), half);
  return decide(Decision::RowBlock, rounded_up(rows, steps), doublings(steps, kMostRowsPerItem));
}

Block Scheduler::schedule_staged_rows(const RowNest& nest, const Contraction& lowered) {
  const Loop& rows = nest.loops.back();
  // Rows that lie a multiple of some KB apart would fight for a few sets of the L1 cache.
  const int64_t stride = rounded_up(lowered.depth.const_value(), kLaneCount) + kLaneCount;
  const Contraction c = packed(lowered, nest.loops);
  const Dim panels = ceildiv(c.columns, target_.tile_cols);
  // Of one image, where the number of images is known later.
  const int64_t count = std::max<int64_t>(rows.extent.bounds().lo, 1);
  const int64_t row_block = staged_rows(count, stride);
  const int64_t most = std::max<int64_t>(guess(panels) / kLeastPanels, 1);
  const int64_t groups =
      decide(Decision::ColumnGroups,
             std::clamp<int64_t>(divided_up(kFewItems, divided_up(count, row_block)), 1, most),
             doublings(1, kFewItems));
  const int64_t per_group = divided_up(guess(panels), groups);
  const Stage stage{kernel_.add_buffer({.name = "rows",
                                        .dtype = c.reduce->args[0]->dtype,
                                        .elements = row_block * stride,
                                        .storage = Storage::Scratch}),
                    stride};
  return threaded(nest, row_block, ceildiv(panels, per_group),
                  [&](const Dim& first, const Dim& count, const Dim& group) -> Block {
                    const RowBlock block{rows.symbol, first, count, row_block};
                    Expr reduce = *c.reduce;
                    reduce.args[0] = load(stage.buffer, c.reduce->args[0]->dtype,
                                          (rows.symbol - first) * stride + c.k);
                    Contraction staged = c;
                    staged.reduce = std::make_shared<const Expr>(std::move(reduce));
                    Block item = stage_rows(lowered, block, stage);
                    for (Stmt& s : panel_tiles({staged}, block, {group, per_group, panels}))
                      item.push_back(std::move(s));
                    return item;
                  });
}

}  // namespace tenon::schedule
