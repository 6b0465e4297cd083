// Between what a caller gives and what a program with an active extent takes. Inputs may have all
// rows of the bucket or only the active ones; the active rows of outputs are written, the rows past
// them stay what they were. It is all shapes and capacities: no data moves, but where a program
// falls back to its full extent and a short input is filled up with zeros.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "compiled/named_views.h"
#include "program/program.h"
#include "runtime/dim_table.h"
#include "runtime/io_view.h"
#include "tenon/active_extent.h"

namespace tenon::compiled {

class ActiveRows {
 public:
  // `program` must outlive it. `report`: the bucket's axes where its shapes do not follow from
  // them.
  explicit ActiveRows(const program::Program& program, const ActiveExtentReport& report = {});

  int64_t upper() const { return upper_; }  // 0: there is no bucket
  // What kernels compute: the rows that are set, of a program that can; else all.
  int64_t computed() const { return falls_back_ ? upper_ : rows_; }
  bool is_set() const { return is_set_; }
  void set(int64_t actual);
  void clear();

  const std::vector<InputShapes>& input_shapes() const { return input_shapes_; }

  // The view that the program takes. An extent that is neither all rows nor the active ones is a
  // User error. Allocates nothing after the first time.
  runtime::IoView input(size_t slot, const runtime::IoView& given);
  runtime::IoView output(size_t slot, const runtime::IoView& given);

  // Of an input whose extents with all rows are these.
  std::span<const int64_t> active_shape(size_t slot, std::span<const int64_t> full);

  // For inputs as the program took them: extents of outputs. Allocates nothing. Before output() and
  // full_extents().
  void resolve(std::span<const runtime::IoView> inputs);
  // With all rows; empty where an output has no axis of the bucket.
  std::span<const int64_t> full_extents(size_t output) const { return outputs_[output].full; }

 private:
  struct Slot {
    std::vector<int> axes;              // of the bucket
    std::vector<int64_t> full, active;  // extents with all rows, and with the active ones
    std::vector<int64_t> given, shape, capacity;
    std::vector<std::byte> filled_up;
    std::vector<int> extents;  // of an output with such axes: positions in extents_
  };
  // The axis of an input whose extent a symbol is; no input: it is the active extent.
  struct Source {
    int input = -1, axis = 0;
  };
  runtime::IoView cut(const char* role, const program::IoSlot& io, Slot& slot,
                      const runtime::IoView& given) const;
  runtime::IoView fill_up(const program::IoSlot& io, Slot& slot,
                          const runtime::IoView& given) const;
  void fall_back(const ActiveExtentReport& report);
  void update_shapes();
  void number_symbols();
  void resolve_at(int64_t rows, std::span<const runtime::IoView> inputs,
                  std::vector<int64_t> Slot::* extents);

  const program::Program* program_;
  std::optional<Symbol> symbol_;
  int64_t upper_ = 0, rows_ = 0;
  bool falls_back_ = false, is_set_ = false;
  std::vector<Slot> inputs_, outputs_;
  std::vector<InputShapes> input_shapes_;
  std::vector<Source> sources_;  // of the program's symbols
  std::vector<int64_t> symbol_values_;
  runtime::DimTable extents_;
};

}  // namespace tenon::compiled
