#include "compiled/active_rows.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"
#include "types/active_extent.h"

namespace tenon::compiled {

using runtime::IoView;

namespace {

std::string text(std::span<const int64_t> extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::vector<int> active_axes(const Shape& shape) {
  std::vector<int> axes;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (is_active(shape[axis])) axes.push_back(axis);
  }
  return axes;
}

}  // namespace

ActiveRows::ActiveRows(const program::Program& program, const ActiveExtentReport& report)
    : program_(&program),
      symbol_(find_active_extent(program.symbols)),
      upper_(symbol_ ? symbol_->bounds().hi : 0),
      rows_(upper_) {
  for (const program::IoSlot& io : program.inputs) inputs_.push_back({active_axes(io.type.shape)});
  for (const program::IoSlot& io : program.outputs)
    outputs_.push_back({active_axes(io.type.shape)});
  if (symbol_) number_symbols();
  if (!symbol_ && report.upper > 0) fall_back(report);
  update_shapes();
}

void ActiveRows::fall_back(const ActiveExtentReport& report) {
  upper_ = rows_ = report.upper;
  falls_back_ = true;
  for (const ActiveExtentReport::Input& input : report.inputs) {
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (program_->inputs[i].name == input.name) inputs_[i].axes = input.axes;
    }
  }
}

void ActiveRows::set(int64_t actual) {
  rows_ = actual;
  is_set_ = true;
  update_shapes();
}

void ActiveRows::clear() {
  rows_ = upper_;
  is_set_ = false;
  update_shapes();
}

void ActiveRows::update_shapes() {
  input_shapes_.resize(inputs_.size());
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Shape& shape = program_->inputs[i].type.shape;
    Slot& slot = inputs_[i];
    slot.full.clear();
    bool known = true;
    for (const Dim& dim : shape) {
      const Dim extent = symbol_ ? dim.substitute(*symbol_, upper_) : dim;
      known = known && extent.is_const();
      slot.full.push_back(extent.is_const() ? extent.const_value() : -1);
    }
    slot.active = slot.full;
    for (const int axis : slot.axes) slot.active[static_cast<size_t>(axis)] = rows_;
    input_shapes_[i] = {};
    if (known && runtime::dense_bytes(program_->inputs[i].type.dtype, slot.full))
      input_shapes_[i] = {slot.full, slot.active};
  }
}

// A bucket's axis with all rows becomes one of the active rows that has room for all.
IoView ActiveRows::cut(const char* role, const program::IoSlot& io, Slot& slot,
                       const IoView& given) const {
  const bool fits = given.shape.size() == slot.full.size() &&
                    (given.capacity.empty() || given.capacity.size() == given.shape.size());
  if (slot.axes.empty() || !fits) return given;  // what is wrong with it, the binder says
  const std::span<const int64_t> room = given.capacity.empty() ? given.shape : given.capacity;
  slot.shape.assign(given.shape.begin(), given.shape.end());
  slot.capacity.assign(room.begin(), room.end());
  for (const int axis : slot.axes) {
    const auto at = static_cast<size_t>(axis);
    if (slot.shape[at] == slot.full[at]) slot.shape[at] = slot.active[at];
    if (slot.shape[at] == slot.active[at]) continue;
    throw user_error(
        "{} \"{}\" has shape {}: axis {} is {}, not {}{}", role, io.name, text(given.shape), axis,
        given.shape[at], slot.full[at],
        is_set_ ? fmt::format(" or the active extent's {}", slot.active[at]) : std::string());
  }
  IoView view = given;
  view.shape = slot.shape;
  view.capacity = slot.capacity;
  return view;
}

// Values of handles are the device's, and a state is written where it lies: they stay as they are.
IoView ActiveRows::fill_up(const program::IoSlot& io, Slot& slot, const IoView& given) const {
  const bool fits = given.shape.size() == slot.full.size() && given.dtype == io.type.dtype &&
                    runtime::capacity_fits(given);
  if (slot.axes.empty() || given.on_device || !fits) return given;  // the binder says what is wrong
  slot.shape.assign(given.shape.begin(), given.shape.end());
  bool is_short = false;
  for (const int axis : slot.axes) {
    const auto at = static_cast<size_t>(axis);
    is_short = is_short || (rows_ < upper_ && slot.shape[at] == rows_);
    if (slot.shape[at] == rows_) slot.shape[at] = upper_;
  }
  if (!is_short) return given;
  if (!given.data) return {nullptr, given.dtype, slot.shape, {}};
  if (runtime::has_gaps(given))
    throw user_error(
        "input \"{}\" of fewer rows than the bucket's {} must be dense: the program runs at full "
        "extent",
        io.name, upper_);
  slot.filled_up.assign(static_cast<size_t>(runtime::dense_bytes(given.dtype, slot.shape).take()),
                        std::byte{0});
  IoView to{slot.filled_up.data(), given.dtype, given.shape, slot.shape};
  runtime::copy_dense(given.data, to);
  return {slot.filled_up.data(), given.dtype, slot.shape, {}};
}

IoView ActiveRows::input(size_t slot, const IoView& given) {
  const program::IoSlot& io = program_->inputs[slot];
  return falls_back_ ? fill_up(io, inputs_[slot], given) : cut("input", io, inputs_[slot], given);
}

std::span<const int64_t> ActiveRows::active_shape(size_t slot, std::span<const int64_t> full) {
  std::vector<int64_t>& shape = inputs_[slot].given;
  shape.assign(full.begin(), full.end());
  for (const int axis : inputs_[slot].axes) shape[static_cast<size_t>(axis)] = rows_;
  return shape;
}

IoView ActiveRows::output(size_t slot, const IoView& given) {
  return cut("output", program_->outputs[slot], outputs_[slot], given);
}

// Every symbol is the whole extent of some axis of an input: where its value is found.
void ActiveRows::number_symbols() {
  runtime::Variables variables;
  for (const Symbol& symbol : program_->symbols) {
    variables.emplace(symbol.name(), static_cast<int>(sources_.size()));
    Source source;
    for (size_t i = 0; i < inputs_.size() && symbol != *symbol_; ++i) {
      const Shape& shape = program_->inputs[i].type.shape;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis].as_symbol() == symbol) source = {static_cast<int>(i), axis};
      }
    }
    sources_.push_back(source);
  }
  symbol_values_.resize(sources_.size());
  extents_ = runtime::DimTable(variables);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].axes.empty() || program_->outputs[i].late >= 0) continue;
    for (const Dim& dim : program_->outputs[i].type.shape)
      outputs_[i].extents.push_back(extents_.add(dim));
  }
}

void ActiveRows::resolve_at(int64_t rows, std::span<const IoView> inputs,
                            std::vector<int64_t> Slot::* extents) {
  for (size_t i = 0; i < sources_.size(); ++i) {
    const auto [input, axis] = sources_[i];
    symbol_values_[i] = input < 0 ? rows : inputs[static_cast<size_t>(input)].shape[axis];
  }
  const bool known = extents_.evaluate(symbol_values_);
  for (Slot& slot : outputs_) {
    (slot.*extents).clear();
    for (const int position : slot.extents)
      (slot.*extents).push_back(known ? extents_[position] : -1);
  }
}

void ActiveRows::resolve(std::span<const IoView> inputs) {
  if (!symbol_) return;
  resolve_at(upper_, inputs, &Slot::full);
  resolve_at(rows_, inputs, &Slot::active);
}

}  // namespace tenon::compiled
