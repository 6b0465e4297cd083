// Gives a program's symbols their values: extents from the shapes of the inputs, capacities from
// the memory of inputs and outputs, before anything runs; what host steps define when they have
// run. Everything the caller can get wrong about shapes is found here.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "program/program.h"
#include "runtime/dim_table.h"
#include "runtime/io_view.h"

namespace tenon::runtime {

class ShapeBinder {
 public:
  // `program` must outlive the binder. An error where a symbol follows from nothing.
  static Result<ShapeBinder> make(const program::Program& program);

  // The value of a symbol of the program around (Program::given), before bind_inputs.
  void give(int index, int64_t value);

  // One view per input, in the program's order. Checks dtypes, ranks, extents, bounds and
  // constraints.
  Status bind_inputs(std::span<const IoView> inputs);
  // The values of the symbols of a host step: bounds and the constraints that they decide are
  // checked.
  Status define(int host_step, std::span<const int64_t> values);
  // Every symbol has its value: the extents of late outputs.
  Status finish();
  // The extents of an output, after bind_inputs; of a late one after finish.
  std::span<const int64_t> output_extents(int output) const;
  // How long a state is when the run has ended, after bind_inputs.
  int64_t state_length(int input) const;
  // One view per output. Checks dtypes and shapes against output_extents; those of late ones are
  // left to check_late, when the run has ended.
  Status bind_outputs(std::span<const IoView> outputs);
  Status check_late(int output, const IoView& view) const;

  const Variables& variables() const { return *variables_; }
  std::span<const int64_t> values() const { return values_; }
  // Values of all symbols where those of the program's have these. Capacities are as small as they
  // may be. Unknown, missing and out-of-bounds names are User errors.
  Result<std::vector<int64_t>> values_of(const std::map<std::string, int64_t>& extents);
  // For messages: " at batch = 8, seq = 128", the symbols known at a stage; empty where there are
  // none.
  std::string values_text(int stage) const;
  // Grows whenever a value that this stage knows changed: what depends on them is stale when this
  // differs.
  uint64_t version(int stage = 0) const;

 private:
  struct Axis {
    int extent;      // position in the dims of early_, or of finish for a late output
    int variable;    // the extent is exactly this variable; -1: an expression or a constant
    int capacity;    // the variable that holds its capacity; -1: the axis is as large as its extent
    bool outermost;  // its capacity does not matter
    int64_t held;    // what the memory of a state holds along it; -1: of any other axis
  };
  struct Slot {
    const program::IoSlot* io;
    std::vector<Axis> axes;
    int length = -1;  // of a state: position in the dims of early_
  };

  explicit ShapeBinder(const program::Program& program) : program_(&program) {}
  int number(const Symbol& symbol);
  // Symbols of the inputs, given ones, and those that host steps up to this stage define.
  std::vector<Symbol> symbols_through(int stage) const;
  Status check_symbols() const;
  Status check_view(const char* role, const Slot& slot, const IoView& view) const;
  Status bind_extents(const Slot& slot, const IoView& view);
  Status check_extents(const Slot& slot, const IoView& view) const;
  Status bind_capacities(const char* role, const Slot& slot, const IoView& view);
  // What is decided together: extents of outputs and constraints.
  struct Decided {
    DimTable dims;
    std::vector<const Constraint*> constraints;
    std::vector<std::pair<int, int>> sides;  // of each constraint, positions in dims
  };
  void add_constraint(const Constraint& constraint, Decided& to);
  Status check_constraints(const Decided& decided) const;
  void set(int variable, int64_t value);
  Slot make_slot(const program::IoSlot& io, DimTable& dims);

  const program::Program* program_;
  std::unique_ptr<Variables> variables_ = std::make_unique<Variables>();  // DimTables point to it
  std::vector<Symbol> symbols_;                                           // by number
  std::vector<int> stages_;                                               // of each symbol
  std::vector<Slot> inputs_, outputs_;
  Decided early_;              // by the inputs
  std::vector<Decided> late_;  // by each host step
  DimTable late_outputs_;
  std::vector<int64_t> values_;
  std::vector<const program::IoSlot*>
      set_by_;  // per variable: the input that set it in this binding
  std::vector<std::vector<int64_t>> output_extents_;
  std::vector<uint64_t> changed_;  // per stage: the version of its last change
  uint64_t version_ = 1, checked_version_ = 0;
};

}  // namespace tenon::runtime
