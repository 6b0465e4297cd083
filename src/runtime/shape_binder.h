// Gives a program's symbols their values: extents from the shapes of the inputs, capacities from
// the memory of inputs and outputs. Everything the caller can get wrong about shapes is found here,
// before anything runs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/dim_table.h"
#include "runtime/io_view.h"

namespace tenon::runtime {

class ShapeBinder {
 public:
  // `program` must outlive the binder. An error where a symbol follows from no input.
  static Result<ShapeBinder> make(const program::Program& program);

  // One view per input, in the program's order. Checks dtypes, ranks, extents, bounds and
  // constraints.
  Status bind_inputs(std::span<const IoView> inputs);
  // The extents of an output, after bind_inputs.
  std::span<const int64_t> output_extents(int output) const;
  // One view per output. Checks dtypes and shapes against output_extents.
  Status bind_outputs(std::span<const IoView> outputs);

  const Variables& variables() const { return *variables_; }
  std::span<const int64_t> values() const { return values_; }
  // Grows whenever a value changed: what depends on values is stale when this differs.
  uint64_t version() const { return version_; }

 private:
  struct Axis {
    int extent;      // position in shapes_
    int variable;    // the extent is exactly this variable; -1: an expression or a constant
    int capacity;    // the variable that holds its capacity; -1: the axis is as large as its extent
    bool outermost;  // its capacity does not matter
  };
  struct Slot {
    const program::IoSlot* io;
    std::vector<Axis> axes;
  };

  explicit ShapeBinder(const program::Program& program) : program_(&program) {}
  int number(const Symbol& symbol);
  Slot make_slot(const program::IoSlot& io);
  Status check_symbols() const;
  Status check_view(const char* role, const Slot& slot, const IoView& view) const;
  Status bind_extents(const Slot& slot, const IoView& view);
  Status check_extents(const Slot& slot, const IoView& view) const;
  Status bind_capacities(const char* role, const Slot& slot, const IoView& view);
  Status check_constraints() const;
  void set(int variable, int64_t value);

  const program::Program* program_;
  std::unique_ptr<Variables> variables_ = std::make_unique<Variables>();  // DimTables point to it
  std::vector<Symbol> symbols_;                                           // by number
  std::vector<Slot> inputs_, outputs_;
  DimTable shapes_;                         // extents of inputs and outputs, sides of constraints
  std::vector<std::pair<int, int>> sides_;  // of each constraint, positions in shapes_
  std::vector<int64_t> values_;
  std::vector<const program::IoSlot*>
      set_by_;  // per variable: the input that set it in this binding
  std::vector<std::vector<int64_t>> output_extents_;
  uint64_t version_ = 1, checked_version_ = 0;
};

}  // namespace tenon::runtime
