// See shape_binder.h. Repeated shapes cost a comparison per axis; nothing here allocates unless it
// reports an error.
#include "runtime/shape_binder.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "types/wrong_extent.h"

namespace tenon::runtime {
namespace {

std::string text(std::span<const int64_t> extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

}  // namespace

int ShapeBinder::number(const Symbol& symbol) {
  const auto [found, fresh] = variables_->emplace(symbol.name(), static_cast<int>(symbols_.size()));
  if (fresh) symbols_.push_back(symbol);
  return found->second;
}

ShapeBinder::Slot ShapeBinder::make_slot(const program::IoSlot& io, DimTable& dims) {
  Slot slot{&io, {}};
  for (int axis = 0; axis < io.type.shape.rank(); ++axis) {
    const Dim& extent = io.type.shape[axis];
    const Dim& capacity = io.capacity[static_cast<size_t>(axis)];
    const auto extent_symbol = extent.as_symbol(), capacity_symbol = capacity.as_symbol();
    const bool own_capacity = capacity_symbol && !(capacity == extent);
    slot.axes.push_back({.extent = dims.add(extent),
                         .variable = extent_symbol ? number(*extent_symbol) : -1,
                         .capacity = own_capacity ? number(*capacity_symbol) : -1,
                         .outermost = axis == 0,
                         .held = io.state && io.state->axis == axis ? io.state->capacity : -1});
  }
  if (io.state) slot.length = dims.add(io.state->length);
  return slot;
}

void ShapeBinder::add_constraint(const Constraint& constraint, Decided& to) {
  to.constraints.push_back(&constraint);
  to.sides.emplace_back(to.dims.add(constraint.left), to.dims.add(constraint.right));
}

Result<ShapeBinder> ShapeBinder::make(const program::Program& program) {
  ShapeBinder binder(program);
  for (const Symbol& symbol : program.symbols) binder.number(symbol);
  for (const Symbol& symbol : program.given) binder.number(symbol);
  for (const program::HostStep& step : program.host_steps) {
    for (const Symbol& symbol : step.symbols) binder.number(symbol);
  }
  for (const auto* slots : {&program.inputs, &program.outputs}) {
    for (const program::IoSlot& io : *slots) {
      for (const auto* dims : {&io.type.shape.dims(), &io.capacity}) {
        for (const Dim& dim : *dims) {
          for (const Symbol& symbol : dim.symbols()) binder.number(symbol);
        }
      }
    }
  }
  const program::Stages stages(program);
  for (const Symbol& symbol : binder.symbols_) binder.stages_.push_back(stages.of(symbol));
  binder.changed_.assign(static_cast<size_t>(stages.count()), 1);
  binder.early_.dims = binder.late_outputs_ = DimTable(*binder.variables_);
  binder.late_.resize(program.host_steps.size());
  for (Decided& decided : binder.late_) decided.dims = DimTable(*binder.variables_);
  for (const auto& io : program.inputs) {
    binder.inputs_.push_back(binder.make_slot(io, binder.early_.dims));
  }
  for (const auto& io : program.outputs) {
    DimTable& dims = io.late < 0 ? binder.early_.dims : binder.late_outputs_;
    binder.outputs_.push_back(binder.make_slot(io, dims));
    binder.output_extents_.emplace_back(io.type.shape.dims().size());
  }
  for (const Constraint& constraint : program.constraints) {
    const int stage = std::max(stages.of(constraint.left), stages.of(constraint.right));
    binder.add_constraint(
        constraint, stage == 0 ? binder.early_ : binder.late_[static_cast<size_t>(stage) - 1]);
  }
  binder.values_.assign(binder.symbols_.size(), 0);
  binder.set_by_.assign(binder.symbols_.size(), nullptr);
  if (Status status = binder.check_symbols(); !status.ok()) return status.error();
  return binder;
}

// Every symbol must be the whole extent of some input axis, a capacity, given from outside or
// defined by a host step: else no run could give it a value.
Status ShapeBinder::check_symbols() const {
  std::vector<bool> bound(symbols_.size(), false);
  for (const auto* slots : {&inputs_, &outputs_}) {
    for (const Slot& slot : *slots) {
      for (const Axis& axis : slot.axes) {
        if (axis.variable >= 0 && slots == &inputs_) bound[axis.variable] = true;
        if (axis.capacity >= 0) bound[axis.capacity] = true;
      }
    }
  }
  for (const Symbol& symbol : program_->given) bound[variables_->at(symbol.name())] = true;
  for (size_t i = 0; i < bound.size(); ++i) {
    if (!bound[i] && stages_[i] == 0)
      return unsupported_error("extent {} is not an axis of any input", symbols_[i].name());
  }
  std::vector<const DimTable*> tables = {&early_.dims, &late_outputs_};
  for (const Decided& decided : late_) tables.push_back(&decided.dims);
  for (const DimTable* table : tables) {
    if (table->unknown_symbol().empty()) continue;
    return internal_error("[program] symbol {} of a constraint is not a symbol of the program",
                          table->unknown_symbol());
  }
  return {};
}

void ShapeBinder::set(int variable, int64_t value) {
  if (values_[variable] == value) return;
  values_[variable] = value;
  changed_[static_cast<size_t>(stages_[variable])] = ++version_;
}

void ShapeBinder::give(int index, int64_t value) {
  set(variables_->at(program_->given[static_cast<size_t>(index)].name()), value);
}

std::vector<Symbol> ShapeBinder::symbols_through(int stage) const {
  std::vector<Symbol> symbols = program_->symbols;
  symbols.insert(symbols.end(), program_->given.begin(), program_->given.end());
  for (size_t i = 0; i < std::min(program_->host_steps.size(), static_cast<size_t>(stage)); ++i) {
    const auto& defined = program_->host_steps[i].symbols;
    symbols.insert(symbols.end(), defined.begin(), defined.end());
  }
  return symbols;
}

Result<std::vector<int64_t>> ShapeBinder::values_of(const std::map<std::string, int64_t>& extents) {
  std::vector<int64_t> values;
  for (const Symbol& symbol : symbols_) values.push_back(symbol.bounds().lo);
  size_t known = 0;
  for (const Symbol& symbol : symbols_through(static_cast<int>(program_->host_steps.size()))) {
    const auto found = extents.find(symbol.name());
    if (found == extents.end()) return user_error("no value of extent {} is given", symbol.name());
    if (const Bounds bounds = symbol.bounds(); !bounds.contains(found->second)) {
      return user_error("extent {} = {} is outside its bounds {}..{}", symbol.name(), found->second,
                        bounds.lo, bounds.hi);
    }
    values[static_cast<size_t>(variables_->at(symbol.name()))] = found->second;
    ++known;
  }
  for (const auto& [name, value] : extents) {
    if (known < extents.size() && !variables_->contains(name))
      return user_error("the model has no extent {}", name);
  }
  checked_version_ = 0;  // what was evaluated for the inputs bound last is lost
  if (!early_.dims.evaluate(values))
    return user_error("the inputs' extents are too large to compute with");
  if (Status status = check_constraints(early_); !status.ok()) return status.error();
  return values;
}

std::string ShapeBinder::values_text(int stage) const {
  std::string text;
  for (const Symbol& symbol : symbols_through(stage)) {
    text += fmt::format("{} {} = {}", text.empty() ? " at" : ",", symbol.name(),
                        values_[static_cast<size_t>(variables_->at(symbol.name()))]);
  }
  return text;
}

uint64_t ShapeBinder::version(int stage) const {
  return *std::max_element(changed_.begin(), changed_.begin() + stage + 1);
}

Status ShapeBinder::define(int host_step, std::span<const int64_t> values) {
  const program::HostStep& step = program_->host_steps[static_cast<size_t>(host_step)];
  for (size_t i = 0; i < step.symbols.size(); ++i) {
    const Symbol& symbol = step.symbols[i];
    if (!symbol.bounds().contains(values[i])) {
      return user_error("{}: {}", step.origin, wrong_extent(symbol, values[i]));
    }
    set(variables_->at(symbol.name()), values[i]);
  }
  Decided& decided = late_[static_cast<size_t>(host_step)];
  if (!decided.dims.evaluate(values_))
    return user_error("{}: extents are too large to compute with", step.origin);
  return check_constraints(decided);
}

Status ShapeBinder::finish() {
  if (!late_outputs_.evaluate(values_))
    return user_error("the outputs' extents are too large to compute with");
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].io->late < 0) continue;
    for (size_t axis = 0; axis < outputs_[i].axes.size(); ++axis) {
      output_extents_[i][axis] = late_outputs_[outputs_[i].axes[axis].extent];
    }
  }
  return {};
}

Status ShapeBinder::check_late(int output, const IoView& view) const {
  const auto i = static_cast<size_t>(output);
  if (Status status = check_view("output", outputs_[i], view); !status.ok()) return status;
  if (std::equal(view.shape.begin(), view.shape.end(), output_extents_[i].begin())) return {};
  return user_error("output \"{}\" has shape {}, expected {}", outputs_[i].io->name,
                    text(view.shape), text(output_extents_[i]));
}

Status ShapeBinder::check_view(const char* role, const Slot& slot, const IoView& view) const {
  const TensorType& type = slot.io->type;
  if (view.dtype != type.dtype) {
    return user_error("{} \"{}\" is {}, expected {}", role, slot.io->name, to_string(view.dtype),
                      type.to_string());
  }
  if (view.shape.size() != slot.axes.size()) {
    return user_error("{} \"{}\" has shape {} of rank {}, expected {}", role, slot.io->name,
                      text(view.shape), view.shape.size(), type.to_string());
  }
  const bool empty = std::find(view.shape.begin(), view.shape.end(), 0) != view.shape.end();
  if (!view.data && !empty)
    return user_error("{} \"{}\" has no data (null pointer)", role, slot.io->name);
  if (!view.capacity.empty() && view.capacity.size() != view.shape.size()) {
    return user_error("{} \"{}\" has shape {} but capacity {}", role, slot.io->name,
                      text(view.shape), text(view.capacity));
  }
  return {};
}

Status ShapeBinder::bind_extents(const Slot& slot, const IoView& view) {
  for (size_t axis = 0; axis < slot.axes.size(); ++axis) {
    const int variable = slot.axes[axis].variable;
    if (variable < 0) continue;
    const Symbol& symbol = symbols_[variable];
    const int64_t extent = view.shape[axis];
    if (const program::IoSlot* other = set_by_[variable]; other && values_[variable] != extent) {
      return user_error("extent {} is {} in input \"{}\" but {} in input \"{}\"", symbol.name(),
                        values_[variable], other->name, extent, slot.io->name);
    }
    if (const Bounds bounds = symbol.bounds(); !bounds.contains(extent)) {
      return user_error("extent {} = {} of input \"{}\" is outside its bounds {}..{}",
                        symbol.name(), extent, slot.io->name, bounds.lo, bounds.hi);
    }
    set(variable, extent);
    set_by_[variable] = slot.io;
  }
  return {};
}

Status ShapeBinder::check_extents(const Slot& slot, const IoView& view) const {
  for (size_t axis = 0; axis < slot.axes.size(); ++axis) {
    if (early_.dims[slot.axes[axis].extent] == view.shape[axis]) continue;
    return user_error("input \"{}\" has shape {}, expected {}: axis {} is {}, not {}",
                      slot.io->name, text(view.shape), slot.io->type.to_string(), axis,
                      view.shape[axis], early_.dims[slot.axes[axis].extent]);
  }
  return {};
}

Status ShapeBinder::bind_capacities(const char* role, const Slot& slot, const IoView& view) {
  for (size_t i = 0; i < slot.axes.size(); ++i) {
    const Axis& axis = slot.axes[i];
    const int64_t extent = view.shape[i];
    const int64_t capacity = view.capacity.empty() ? extent : view.capacity[i];
    if (axis.held >= 0) {
      if (capacity == axis.held) continue;
      return user_error("{} \"{}\" is a state of capacity {} along axis {}, but its memory has {}",
                        role, slot.io->name, axis.held, i, capacity);
    }
    const bool fixed = axis.capacity < 0 && !axis.outermost;
    if (capacity < extent || (fixed && capacity != extent)) {
      return user_error("{} \"{}\": capacity {} of axis {} is {} its extent {}", role,
                        slot.io->name, capacity, i, capacity < extent ? "below" : "not", extent);
    }
    if (axis.capacity < 0) continue;
    if (const Bounds bounds = symbols_[axis.capacity].bounds(); !bounds.contains(capacity)) {
      return user_error("{} \"{}\": capacity {} of axis {} is outside its bounds {}..{}", role,
                        slot.io->name, capacity, i, bounds.lo, bounds.hi);
    }
    set(axis.capacity, capacity);
  }
  return {};
}

Status ShapeBinder::check_constraints(const Decided& decided) const {
  for (size_t i = 0; i < decided.sides.size(); ++i) {
    const Constraint& constraint = *decided.constraints[i];
    const int64_t left = decided.dims[decided.sides[i].first];
    const int64_t right = decided.dims[decided.sides[i].second];
    bool holds = left == right;
    if (constraint.kind == Constraint::Kind::AtMost) holds = left <= right;
    if (constraint.kind == Constraint::Kind::Broadcastable)
      holds = holds || left == 1 || right == 1;
    if (!holds) {
      return user_error(
          "the inputs' extents do not fit the model: {} is needed, but here the sides are {} and "
          "{}",
          constraint.to_string(), left, right);
    }
  }
  return {};
}

Status ShapeBinder::bind_inputs(std::span<const IoView> inputs) {
  if (inputs.size() != inputs_.size()) {
    return user_error("{} inputs given, the model has {}", inputs.size(), inputs_.size());
  }
  std::fill(set_by_.begin(), set_by_.end(), nullptr);
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Status status = check_view("input", inputs_[i], inputs[i]); !status.ok()) return status;
    if (Status status = bind_extents(inputs_[i], inputs[i]); !status.ok()) return status;
  }
  const bool known = checked_version_ == version();
  if (!known && !early_.dims.evaluate(values_))
    return user_error("the inputs' extents are too large to compute with");
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (Status status = check_extents(inputs_[i], inputs[i]); !status.ok()) return status;
    if (Status status = bind_capacities("input", inputs_[i], inputs[i]); !status.ok())
      return status;
  }
  if (!known) {
    if (Status status = check_constraints(early_); !status.ok()) return status;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].io->late >= 0) continue;
      for (size_t axis = 0; axis < outputs_[i].axes.size(); ++axis) {
        output_extents_[i][axis] = early_.dims[outputs_[i].axes[axis].extent];
      }
    }
  }
  checked_version_ = version();
  return {};
}

std::span<const int64_t> ShapeBinder::output_extents(int output) const {
  return output_extents_[static_cast<size_t>(output)];
}

int64_t ShapeBinder::state_length(int input) const {
  return early_.dims[inputs_[static_cast<size_t>(input)].length];
}

Status ShapeBinder::bind_outputs(std::span<const IoView> outputs) {
  if (outputs.size() != outputs_.size()) {
    return user_error("{} outputs given, the model has {}", outputs.size(), outputs_.size());
  }
  const bool known = checked_version_ == version();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs_[i].io->late >= 0) continue;
    if (Status status = check_view("output", outputs_[i], outputs[i]); !status.ok()) return status;
    if (!std::equal(outputs[i].shape.begin(), outputs[i].shape.end(), output_extents_[i].begin())) {
      return user_error("output \"{}\" has shape {}, expected {}", outputs_[i].io->name,
                        text(outputs[i].shape), text(output_extents_[i]));
    }
    if (Status status = bind_capacities("output", outputs_[i], outputs[i]); !status.ok())
      return status;
  }
  if (known) checked_version_ = version();  // capacities of outputs bear on no extent
  return {};
}

}  // namespace tenon::runtime
