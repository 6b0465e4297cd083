// Scheduler: what the parts of a schedule share. schedule.cpp finds the structure, grid.cpp places
// threads and blocks of rows, lanes.cpp turns row statements into vectors, tile.cpp contractions
// into register tiles, pack.cpp their right operands into panels.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "schedule/nest.h"
#include "schedule/schedule.h"
#include "schedule/serial_reductions.h"

namespace tenon::schedule {

// A kernel's shape: parallel loops over rows (at least one) around the statements of one row; each
// work item makes what is looked up before.
struct RowNest : Nest {
  bool single_column_loop = false;  // the body is one loop over columns with one store
};

// A contraction inside a store over columns: value = epilogue(reduce_fma(...)).
struct Contraction {
  Symbol column;
  Dim columns;
  const kernel::Store* store;
  kernel::ExprRef reduce;
  Symbol k;
  Dim depth;
};

// A tile of `count` rows of the loop over `row`, from the first on. One that reads its right
// operands where they lie may have more rows than are left: those past the last one repeat it.
struct RowTile {
  Symbol row;
  Dim first;
  Symbol count;
  std::optional<Dim> last_in_place;  // the last row, of such a tile

  bool is_in_place() const { return last_in_place.has_value(); }
  Dim at(const Dim& in_tile) const {
    return is_in_place() ? min(first + in_tile, *last_in_place) : first + in_tile;
  }
};

// Those rows, `columns` columns from the first one.
struct TilePlace {
  RowTile rows;
  Dim first_column;
  int64_t columns;
};

// Panels of columns that a work item takes: `most` of `all`, from the group's first on.
struct PanelGroup {
  Dim group;
  int64_t most;
  Dim all;
};

// Rows of the loop over `row` that a work item takes: `count` from the first on, `most` at most.
struct RowBlock {
  Symbol row;
  Dim first, count;
  int64_t most;
};

// Scratch memory for copies of them.
struct Stage {
  int buffer;
  int64_t stride;
};

// Steps `first .. + count` of a contraction's range; `k` counts them.
struct Steps {
  Symbol k;
  Dim first, count;
};

// Loops over the columns of a row that go with a reduction of it; either may be null.
struct Beside {
  const kernel::Loop* filling = nullptr;  // fills what the (one) reduction reads: done with it
  const kernel::Loop* written = nullptr;  // comes next: the memory it writes is prefetched
};

// Of a symbol, where only the size of work items depends on it.
inline constexpr int64_t kGuessedExtent = 512;
// That a work item of several statements takes (at least): what it stages serves so many.
inline constexpr int64_t kRowsPerItem = 512;

inline int64_t divided_up(int64_t value, int64_t parts) { return (value + parts - 1) / parts; }
inline int64_t rounded_up(int64_t value, int64_t multiple) {
  return divided_up(value, multiple) * multiple;
}
inline int64_t guess(const Dim& extent) {
  return extent.is_const() ? extent.const_value() : kGuessedExtent;
}

// The load of a value that runs along rows where the value is wanted along columns; null if there
// is none, or more than one, or it is the same for all columns.
const kernel::Expr* turned_load(const kernel::ExprRef& value, const Symbol& row,
                                const Symbol& column);
// The constants that divide k in indices of a value: where k counts taps and channels.
std::vector<int64_t> divisors_of(const kernel::ExprRef& value, const Symbol& k);
bool is_transpose(const RowNest& nest);
bool reduces_columns(const RowNest& nest);

class Scheduler {
 public:
  Scheduler(const kernel::Kernel& source, const Target& target, const Choice& choice);
  Scheduled run();

 private:
  RowNest find_row_nest() const;
  bool has_tiles(const RowNest& nest) const;

  // grid.cpp: the thread loop around what `make` makes for a block of rows and a group of columns.
  using ItemBody =
      std::function<kernel::Block(const Dim& first_row, const Dim& rows, const Dim& group)>;
  kernel::Block threaded(const RowNest& nest, int64_t row_block, const Dim& groups,
                         const ItemBody& make);

  // rows.cpp, columns.cpp, transpose.cpp, contraction.cpp, tiles.cpp, windows.cpp, staged_rows.cpp:
  // the kinds of schedules.
  kernel::Block schedule_rows(const RowNest& nest);
  kernel::Block schedule_flat(const RowNest& nest);
  kernel::Block schedule_columns(const RowNest& nest);
  kernel::Block schedule_transpose(const RowNest& nest);
  kernel::Block transposed(const RowNest& nest, const Dim& first_row, const Dim& row_count,
                           const Dim& first_column, const Dim& column_count);
  kernel::Block schedule_contraction(const RowNest& nest, const std::vector<Contraction>& sums);
  void choose_tile_rows();
  int64_t panels_per_group(const Dim& panels);
  bool fits_cache(const std::vector<Contraction>& sums, const PanelGroup& group) const;
  kernel::Block panel_tiles(const std::vector<Contraction>& sums, const RowBlock& rows,
                            const PanelGroup& group);
  // Prefetches of the lines that `count` elements of a buffer lie in; `at` gives the place of one.
  kernel::Block fetches_of_lines(int buffer, int64_t count,
                                 const std::function<Dim(int64_t element)>& at) const;
  kernel::Block epilogue_fetches(const Contraction& contraction, const TilePlace& place);
  bool is_as_short(const kernel::Block& body, const Dim& rows, const Dim& blocks) const;
  kernel::Block schedule_tiles(const RowNest& nest);
  kernel::Block schedule_staged_rows(const RowNest& nest, const Contraction& contraction);
  int64_t staged_rows(int64_t count, int64_t stride);
  bool stages_rows(const RowNest& nest, const Contraction& contraction) const;
  kernel::Block stage_rows(const Contraction& contraction, const RowBlock& rows,
                           const Stage& stage);
  kernel::Block schedule_windows(const RowNest& nest, const Contraction& contraction);
  kernel::Block stage_columns(const Contraction& contraction, int stage, const Dim& first,
                              const Dim& panels);
  bool stages_columns(const RowNest& nest, const Contraction& contraction) const;
  Contraction with_spaced_rows(const RowNest& nest, const Contraction& contraction);
  kernel::Block row_statements(const kernel::Block& body);
  bool right_operand_uses(const kernel::Block& body, const Symbol& symbol) const;

  kernel::Block with_local_rows(const kernel::Block& body, int64_t rows);
  kernel::Block tile_statements(const kernel::Block& body, const RowTile& tile,
                                const std::vector<kernel::Loop>& grid,
                                const std::vector<kernel::Loop>& around);
  bool is_row_scalar(const kernel::Stmt& stmt) const;
  kernel::Block fetches_of_next_tile(const kernel::Block& statements, const RowTile& tile,
                                     const Symbol& r) const;
  kernel::Stmt each_row(const kernel::Block& statements, const RowTile& tile, bool once);

  // lanes.cpp: one row's statements with vectors over columns. What cannot be vectors runs in
  // order: any lowered block has a schedule.
  kernel::Block lanes_stmt(const kernel::Stmt& stmt, const kernel::Loop* written = nullptr);
  kernel::Block reads_ahead(const kernel::Loop& columns, const Dim& element) const;
  kernel::Stmt vector_of(const kernel::Loop& columns, const Dim& element, bool tail);
  bool is_vector_body(const kernel::Block& body, const Symbol& symbol) const;
  // reductions.cpp
  kernel::ExprRef without_reductions(const kernel::ExprRef& root, kernel::Block& before,
                                     const Beside& beside = {});
  kernel::ExprRef lane_reduction(const kernel::Expr& e, kernel::Block& before,
                                 const Beside& beside);
  kernel::Block prefetches(const kernel::Loop& written, const Dim& extent,
                           const Dim& element) const;
  bool fills_reduction(const kernel::Stmt& loop, const kernel::Stmt& reduction) const;
  kernel::ExprRef nested_reduction(const kernel::Expr& e, kernel::Block& before);
  Around around();
  // Vector loops over `extent` elements: full vectors, then a masked tail where the extent is not a
  // multiple.
  using LaneBody = std::function<kernel::Block(const Dim& element, bool tail)>;
  kernel::Block lanes(const Dim& extent, const LaneBody& body);

  // tile.cpp, pack.cpp
  // Those of a store's value, if it has no other reductions; the one, if it is one.
  std::vector<Contraction> find_contractions(const kernel::Stmt& stmt) const;
  std::optional<Contraction> find_contraction(const kernel::Stmt& stmt) const;
  using TileOffset = std::function<Dim(const Dim& row, const Dim& column)>;
  kernel::Block tile(const std::vector<Contraction>& sums, const TilePlace& place);
  kernel::Block tile_sum(const Contraction& contraction, const TilePlace& place, int raw,
                         const TileOffset& raw_offset);
  kernel::ExprRef in_tile(const kernel::ExprRef& e, const Contraction& contraction,
                          const TilePlace& place, const Dim& in_row, const Dim& in_column) const;
  kernel::Stmt each_vector(const TilePlace& place, const Symbol& r, kernel::LoopKind kind,
                           const std::function<kernel::Stmt(const Dim& column)>& make);
  kernel::Block tile_panels(const Contraction& contraction, const RowTile& rows);
  // in_place.cpp: the steps of a tile, added to its accumulators.
  kernel::Stmt multiplied(const Contraction& contraction, const TilePlace& place, int acc,
                          const Dim& k);
  kernel::Block multiply_steps(const Contraction& contraction, const TilePlace& place, int acc,
                               const Steps& steps);
  kernel::Block multiply_in_order(const Contraction& contraction, const TilePlace& place, int acc,
                                  const Steps& steps);
  int64_t steps_at_once(const Dim& depth);
  kernel::Block multiply_turned(const Contraction& contraction, const TilePlace& place, int acc,
                                const kernel::Expr& turned, const Dim& first, int64_t count);
  kernel::Block fetches_ahead(const Contraction& contraction, const TilePlace& place, const Dim& k);
  struct Panels;
  static std::vector<kernel::Loop> in_source_order(const Panels& panels);
  Panels panels_of(const Contraction& contraction, const std::vector<kernel::Loop>& outer);
  Contraction reading(const Contraction& contraction, const Panels& panels, int buffer) const;
  Contraction packed(const Contraction& contraction, const std::vector<kernel::Loop>& outer);
  kernel::Block fetches_of_rows(const Panels& panels, const Symbol& k) const;
  Contraction staged(const Contraction& contraction, const std::vector<kernel::Loop>& around);

  int64_t decide(Decision decision, int64_t analytic, std::vector<int64_t> options) {
    return decisions_.decide(decision, analytic, std::move(options));
  }
  Symbol fresh(const std::string& stem, const Dim& extent) { return fresh_(stem, extent); }
  bool is_local(int buffer) const {
    return kernel_.buffers[static_cast<size_t>(buffer)].storage != kernel::Storage::Global;
  }

  const kernel::Kernel& source_;
  Target target_;
  kernel::Kernel kernel_;
  std::vector<kernel::Kernel> packs_;
  kernel::Block staging_;           // what a work item begins with
  Dim stages_ = 1;                  // whether it does: 0 or 1
  std::map<int, Dim> row_size_;     // of locals: elements per row of a tile
  std::optional<Symbol> tile_row_;  // the row inside a tile, while tile statements are made
  FreshSymbols fresh_;
  Decisions decisions_;
};

// Whether an index is known before a loop's body runs: it uses nothing that a let of it names.
inline bool is_known_before(const Dim& index, const kernel::Block& body) {
  return std::ranges::none_of(body, [&](const kernel::Stmt& stmt) {
    const auto* let = stmt.as<kernel::Let>();
    return let && index.uses(let->symbol);
  });
}

// Substitutes one symbol in an expression or statement.
inline SymbolMap replacing(const Symbol& symbol, const Dim& value) {
  return each_by({{symbol, value}});
}

}  // namespace tenon::schedule
