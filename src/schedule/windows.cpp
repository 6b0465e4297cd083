// A contraction whose left operand is constant and whose right one is not: a convolution. Work
// items are groups of columns with all their rows; each first stages the columns it needs as panels
// in the worker's scratch memory, where they stay in its cache while rows pass over them. So the
// windows of an image never exist in memory as a whole.
#include <algorithm>

#include "schedule/add_pack.h"
#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kMostPanels = 4;      // of a work item: rows are read once for all of them
constexpr int64_t kFightingRows = 512;  // elements: multiples of it fall into few cache sets
constexpr int64_t kFewItems = 8;        // fewer than this, and rows are divided too
constexpr int64_t kLeastRows = 48;      // staged columns must pay

}  // namespace

std::vector<int64_t> divisors_of(const ExprRef& value, const Symbol& k) {
  std::vector<int64_t> result;
  const std::function<void(const Dim&)> look = [&](const Dim& dim) {
    for (const Dim::Term& term : dim.terms()) {
      for (const auto& atom : term.atoms) {
        if (atom->kind == AtomKind::FloorDiv && atom->args[0] == Dim(k) &&
            atom->args[1].is_const()) {
          result.push_back(atom->args[1].const_value());
        }
        for (const Dim& arg : atom->args) look(arg);
      }
    }
  };
  for_each(value, [&](const Expr& e) {
    look(e.index);
    for (const Guard& guard : e.guards) look(guard.index);
  });
  return result;
}

bool Scheduler::stages_columns(const RowNest& nest, const Contraction& c) const {
  const ExprRef &left = c.reduce->args[0], &right = c.reduce->args[1];
  return is_constant(kernel_, left) && !is_constant(kernel_, right) && c.depth.is_const() &&
         !c.depth.is_const(0) && nest.loops.back().extent.is_const() &&
         uses(left, nest.loops.back().symbol) && right->dtype == DType::F32;
}

// The statements that fill `stage` with the columns of `panels` panels from `first`. Channels are
// innermost: what depends on the tap and the position alone is computed once for all of them.
Block Scheduler::stage_columns(const Contraction& c, int stage, const Dim& first,
                               const Dim& panels) {
  const int64_t width = target_.tile_cols, depth = c.depth.const_value();
  int64_t found = 1;  // the largest divisor: taps, where k counts channels and taps
  for (const int64_t divisor : divisors_of(c.reduce->args[1], c.k))
    found = std::max(found, divisor);
  const int64_t taps = depth % found == 0 ? found : 1;
  const Symbol p = fresh("p", panels), t = fresh("t", taps), channel = fresh("c", depth / taps);
  const Dim k = taps > 1 ? Dim(channel) * taps + t : Dim(channel);
  const bool partial = !mod(c.columns, width).is_const(0);
  Block copy = lanes(width, [&](const Dim& element, bool) -> Block {
    const Symbol lane = fresh("l", kLaneCount);
    const Dim inside = element + lane, column = (first + p) * width + inside;
    ExprRef value = substitute(c.reduce->args[1], [&](const Symbol& s) -> std::optional<Dim> {
      if (s == c.column) return column;
      if (s == c.k) return k;
      return std::nullopt;
    });
    if (partial) {
      value = transform(value, [&](Expr& e) -> ExprRef {
        if (e.op == Op::Load) e.guards.push_back({column, c.columns});
        return nullptr;
      });
    }
    return {loop(LoopKind::Vector, lane, kLaneCount,
                 {store(stage, (Dim(p) * depth + k) * width + inside, value)})};
  });
  Block body = {loop(LoopKind::Serial, channel, depth / taps, std::move(copy))};
  if (taps > 1) body = {loop(LoopKind::Serial, t, taps, std::move(body))};
  return {loop(LoopKind::Serial, p, panels, std::move(body))};
}

// Rows that lie a multiple of some KB apart fight for a few sets of the L1 cache, and rows that do
// not lie along k need arithmetic in the innermost loop: such constant rows are copied once, with
// space between them.
Contraction Scheduler::with_spaced_rows(const RowNest& nest, const Contraction& c) {
  const ExprRef left = c.reduce->args[0];
  const auto row = left->index.coefficient(nest.loops.back().symbol);
  const auto k = left->index.coefficient(c.k);
  const bool along_k = left->op == Op::Load && left->guards.empty() && k && k->is_const(1);
  const bool fights = row && row->is_const() && row->const_value() % kFightingRows == 0;
  if (along_k && row && !fights) return c;
  std::vector<Loop> loops;
  Dim position = 0, rows = 1;
  for (const Loop& l : nest.loops) {
    if (!uses(left, l.symbol)) continue;
    loops.push_back(l);
    position = position * l.extent + l.symbol;
    rows = rows * l.extent;
  }
  loops.push_back({c.k, c.depth, LoopKind::Parallel, nullptr, {}, {}});
  const Dim offset = position * (c.depth + kLaneCount) + c.k;
  const int buffer = add_pack(kernel_, packs_,
                              {.name = "panels",
                               .value = left,
                               .loops = loops,
                               .offset = offset,
                               .elements = rows * (c.depth + kLaneCount)});
  Contraction result = c;
  Expr reduce = *c.reduce;
  reduce.args[0] = load(buffer, left->dtype, offset);
  result.reduce = std::make_shared<const Expr>(std::move(reduce));
  return result;
}

Block Scheduler::schedule_windows(const RowNest& nest, const Contraction& lowered) {
  const Contraction found = with_spaced_rows(nest, lowered);
  const Loop& rows = nest.loops.back();
  const int64_t width = target_.tile_cols, depth = found.depth.const_value();
  const int64_t count = rows.extent.const_value(), steps = target_.row_steps[0];
  const Dim panels = ceildiv(found.columns, width);
  const int64_t fitting = target_.l2_bytes / 2 / (depth * width * size_of(DType::F32));
  int64_t per_group = std::clamp<int64_t>(fitting, 1, kMostPanels);
  int64_t row_block = rounded_up(count, steps);
  if (panels.is_const()) {
    const int64_t all = std::max<int64_t>(panels.const_value(), 1);
    while (per_group > 1 && (all + per_group - 1) / per_group < kFewItems) per_group /= 2;
    const int64_t groups = (all + per_group - 1) / per_group;
    if (groups < kFewItems) {
      const int64_t parts = (kFewItems + groups - 1) / groups;
      row_block =
          rounded_up(std::max((count + parts - 1) / parts, std::min(count, kLeastRows)), steps);
    }
  }
  per_group = decide(Decision::GroupPanels, per_group, doublings(1, 2 * kMostPanels));
  row_block = decide(Decision::RowBlock, row_block, doublings(steps, rounded_up(count, steps)));
  const int stage = kernel_.add_buffer({.name = "columns",
                                        .dtype = DType::F32,
                                        .elements = per_group * depth * width,
                                        .storage = Storage::Scratch});
  const Dim groups = ceildiv(panels, per_group);
  return threaded(
      nest, row_block, groups,
      [&](const Dim& first_row, const Dim& row_count, const Dim& group) -> Block {
        const Dim first = group * per_group;
        const Dim here = min(panels - first, per_group);
        Contraction c = found;
        Expr reduce = *found.reduce;
        const Dim panel_of = floordiv(c.column, width) - first;
        reduce.args[1] =
            load(stage, DType::F32, (panel_of * depth + c.k) * width + mod(c.column, width));
        c.reduce = std::make_shared<const Expr>(std::move(reduce));
        const Symbol panel = fresh("p", per_group), start = fresh("i", row_block);
        const Symbol step(fresh_.name("rows."), {1, steps});
        auto tile_at = [&](const Dim& first_column, int64_t columns) {
          return tile({c}, {{rows.symbol, first_row + start, step}, first_column, columns});
        };
        // A last panel that is half empty, or emptier, is computed as half a panel.
        const Dim left = mod(found.columns, width);
        const bool half = width > kLaneCount && left.is_const() && left.const_value() > 0 &&
                          left.const_value() <= kLaneCount;
        const Dim whole = half ? min(max(panels - 1 - first, 0), per_group) : here;
        Block tiles = {
            loop(LoopKind::Serial, panel, whole, tile_at((first + panel) * width, width))};
        if (half) {
          const Symbol last = fresh("p", here - whole);
          // After the whole ones of the group that has it; the bound is for proofs.
          const Dim at = first + min(whole, per_group - 1);
          tiles.push_back(
              loop(LoopKind::Serial, last, here - whole, tile_at(at * width, kLaneCount)));
        }
        Block item = stage_columns(found, stage, first, here);
        item.push_back(ladder(start, row_count, step, target_.row_steps, std::move(tiles)));
        return item;
      });
}

}  // namespace tenon::schedule
