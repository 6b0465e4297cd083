// A kernel that stores what one contraction, or several, give: packed panels, row tiles down the
// ladder, epilogue. Few code versions serve any number of rows: the body is compiled for each step
// of the ladder, everything else once.
#include <algorithm>

#include "schedule/scheduler.h"

namespace tenon::schedule {

using namespace kernel;

namespace {

constexpr int64_t kColumnGroups = 8;  // work items across the columns
constexpr int64_t kMostColumnGroups = 64;
constexpr int64_t kMostRowsPerItem = 1024;
constexpr int64_t kMoreRows = 4;

// How many groups of columns: as many as are wished, or up to twice as many where those would not
// be alike. An even number: two threads have the same to do then.
int64_t even_groups(int64_t panels) {
  const int64_t per_group = (panels + kColumnGroups - 1) / kColumnGroups;
  if (panels % per_group == 0) return kColumnGroups;
  for (int64_t groups = kColumnGroups; groups <= 2 * kColumnGroups; groups += 2) {
    if (panels % groups == 0) return groups;
  }
  return kColumnGroups;
}

int64_t round_to(int64_t value, int64_t multiple) {
  return std::max(multiple, value / multiple * multiple);
}

}  // namespace

// The ladder begins with a smaller step of it, or with more rows, whose accumulators leave fewer
// registers to everything else.
void Scheduler::choose_tile_rows() {
  std::vector<int64_t>& steps = target_.row_steps;
  std::vector<int64_t> options = steps;
  options.pop_back();
  options.push_back(steps[0] + kMoreRows);
  const int64_t rows = decide(Decision::TileRows, steps[0], std::move(options));
  std::erase_if(steps, [&](int64_t step) { return step >= rows; });
  steps.insert(steps.begin(), rows);
}

int64_t Scheduler::panels_per_group(const Dim& panels) {
  if (!panels.is_const())
    return decide(Decision::GroupPanels, kColumnGroups, doublings(1, kMostColumnGroups));
  const int64_t all = panels.const_value();
  const int64_t groups = decide(Decision::ColumnGroups, even_groups(all),
                                doublings(1, std::min(all, kMostColumnGroups)));
  return (all + groups - 1) / groups;
}

Block Scheduler::fetches_of_lines(int buffer, int64_t count,
                                  const std::function<Dim(int64_t element)>& at) const {
  constexpr int64_t kLineBytes = 64;
  const int64_t line = kLineBytes / size_of(kernel_.buffers[static_cast<size_t>(buffer)].dtype);
  Block result;
  for (int64_t element = 0; element < count; element += line)
    result.push_back({Prefetch{buffer, at(element)}});
  return result;
}

// Lines that the epilogue of a tile reads and writes, asked for before its sums are computed: where
// a result is larger than the caches, memory has that time to find them.
Block Scheduler::epilogue_fetches(const Contraction& c, const TilePlace& place) {
  const auto& result = kernel_.buffers[static_cast<size_t>(c.store->buffer)];
  if (result.elements.bounds().lo <= target_.l2_bytes / size_of(result.dtype)) return {};
  const Symbol r = fresh("ii", target_.row_steps[0]);
  Block lines;
  const auto fetch = [&](int buffer, const Dim& offset) {
    const bool in_rows = offset.uses(place.rows.row) && offset.coefficient(c.column) == Dim(1);
    if (is_local(buffer) || !in_rows) return;
    const ExprRef index = index_value(DType::I64, offset);
    const auto at = [&](int64_t column) { return in_tile(index, c, place, r, column)->index; };
    for (Stmt& fetched : fetches_of_lines(buffer, place.columns, at))
      lines.push_back(std::move(fetched));
  };
  fetch(c.store->buffer, c.store->offset);
  const auto zero = [](const Expr& sum) { return constant(sum.dtype, 0); };
  for_each(replace_reductions(c.store->value, zero), [&](const Expr& e) {
    if (e.op == Op::Load && e.guards.empty()) fetch(e.buffer, e.index);
  });
  if (lines.empty()) return {};
  return {loop(LoopKind::Serial, r, place.rows.count, std::move(lines))};
}

// Whether the panels of a group, of all contractions, stay in the cache together.
bool Scheduler::fits_cache(const std::vector<Contraction>& sums, const PanelGroup& group) const {
  Dim bytes = 0;
  for (const Contraction& c : sums)
    bytes = bytes + group.most * target_.tile_cols * c.depth * size_of(c.reduce->args[1]->dtype);
  return bytes.bounds().hi <= target_.l2_bytes / 2;
}

// All panels of the group for one row tile after the other, which then comes from memory once;
// where the panels are too many for the cache, all row tiles for one panel after the other.
Block Scheduler::panel_tiles(const std::vector<Contraction>& sums, const RowBlock& rows,
                             const PanelGroup& group) {
  const int64_t width = target_.tile_cols;
  const Symbol panel = fresh("p", group.most), start = fresh("i", rows.most);
  const Symbol step(fresh_.name("rows."), {1, target_.row_steps[0]});
  const Dim before = group.group * group.most;
  const TilePlace place{{rows.row, rows.first + start, step, {}}, (before + panel) * width, width};
  Block body = epilogue_fetches(sums[0], place);
  for (Stmt& s : tile(sums, place)) body.push_back(std::move(s));
  const auto panels = [&](Block inner) -> Block {
    return {loop(LoopKind::Serial, panel, min(group.most, group.all - before), std::move(inner))};
  };
  const auto tiles = [&](Block inner) -> Block {
    return {ladder(start, rows.count, step, target_.row_steps, std::move(inner))};
  };
  return fits_cache(sums, group) ? tiles(panels(std::move(body))) : panels(tiles(std::move(body)));
}

// A work item is a block of rows by a group of panels, so that panels stay in cache for all of its
// rows. Where the value has several contractions (a gated linear), each has panels of its own: a
// tile of the one, then the same tile of the other, and what is stored comes from both.
Block Scheduler::schedule_contraction(const RowNest& nest, const std::vector<Contraction>& found) {
  const Loop& rows = nest.loops.back();
  const int64_t width = target_.tile_cols;
  const int64_t unit = target_.row_steps[0];
  choose_tile_rows();
  std::vector<Contraction> sums;
  for (const Contraction& sum : found) sums.push_back(packed(sum, nest.loops));
  const Contraction& c = sums[0];
  const Dim panels = ceildiv(c.columns, width);
  const int64_t row_bytes = std::max<int64_t>(guess(c.depth), 1) * size_of(c.reduce->dtype);
  const int64_t row_block =
      decide(Decision::RowBlock,
             round_to(std::min(target_.l2_bytes / 2 / row_bytes, kGuessedExtent), unit),
             doublings(unit, kMostRowsPerItem));
  const int64_t per_group = panels_per_group(panels);
  const Dim groups = ceildiv(panels, per_group);
  return threaded(nest, row_block, groups,
                  [&](const Dim& first, const Dim& count, const Dim& group) -> Block {
                    return panel_tiles(sums, {rows.symbol, first, count, row_block},
                                       {group, per_group, panels});
                  });
}

}  // namespace tenon::schedule
