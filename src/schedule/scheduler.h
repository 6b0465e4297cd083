// Scheduler: what the parts of a schedule share. rows.cpp finds the structure and places threads and row blocks,
// lanes.cpp turns row statements into vectors, tile.cpp turns contractions into register tiles on packed panels.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.h"
#include "schedule/schedule.h"

namespace tenon::schedule {

// A kernel's shape: parallel loops over rows around the statements of one row.
struct RowNest {
  std::vector<kernel::Loop> loops;  // outermost first; at least one
  kernel::Block body;
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

class Scheduler {
 public:
  Scheduler(const kernel::Kernel& source, const Target& target);
  Scheduled run();

 private:
  // rows.cpp
  kernel::Block row_statements(const kernel::Block& body);
  kernel::Block tile_statements(const kernel::Block& body);
  kernel::Block threaded(const RowNest& nest, int64_t row_block, const Dim& groups,
                         const std::function<kernel::Block(const Dim& first_row, const Dim& rows, const Dim& group)>& make);
  kernel::Block schedule_rows(const RowNest& nest);
  kernel::Block schedule_flat(const RowNest& nest);
  kernel::Block schedule_transpose(const RowNest& nest);
  kernel::Block schedule_tiles(const RowNest& nest);
  kernel::Block schedule_contraction(const RowNest& nest, const Contraction& contraction);
  void expand_locals(int64_t rows);

  // lanes.cpp: one row's statements with vectors over columns.
  kernel::Block lanes_stmt(const kernel::Stmt& stmt);
  kernel::Block lanes_store(const kernel::Store& store);
  // Vector loops over `extent` elements: full vectors, then a masked tail where the extent is not a multiple.
  using LaneBody = std::function<kernel::Block(const Dim& element, bool tail)>;
  kernel::Block lanes(const Dim& extent, const LaneBody& body);

  // tile.cpp
  std::optional<Contraction> find_contraction(const kernel::Stmt& stmt) const;
  kernel::Block tile(const Contraction& contraction, const Symbol& row, const Dim& first_row, const Symbol& rows,
                     const Dim& first_column, int64_t columns);
  kernel::Block tile_panels(const Contraction& contraction, const Symbol& row, const Dim& first_row, const Symbol& rows);
  Contraction packed(const Contraction& contraction, const std::vector<kernel::Loop>& outer, const Symbol& row);

  Symbol fresh(const std::string& stem, const Dim& extent);  // a range symbol with a name of its own
  bool is_local(int buffer) const { return kernel_.buffers[static_cast<size_t>(buffer)].storage != kernel::Storage::Global; }

  const kernel::Kernel& source_;
  const Target& target_;
  kernel::Kernel kernel_;
  std::vector<kernel::Kernel> packs_;
  std::map<int, Dim> row_stride_;    // of locals that have one copy per row of a tile
  std::optional<Symbol> tile_row_;   // the row inside a tile, while tile statements are made
  int names_ = 0;
};

void prune_buffers(kernel::Kernel& kernel);  // drops and renumbers

// Substitutes one symbol in an expression or statement.
inline SymbolMap replacing(const Symbol& symbol, const Dim& value) {
  return [symbol, value](const Symbol& s) { return s == symbol ? std::optional<Dim>(value) : std::nullopt; };
}

}  // namespace tenon::schedule
