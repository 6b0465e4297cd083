// See handles.h.
#include "runtime/handles.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace tenon::runtime {
namespace {

std::string text(std::span<const int64_t> extents) {
  return fmt::format("[{}]", fmt::join(extents, ", "));
}

std::vector<bool> written_inputs(const program::Program& program) {
  std::vector<bool> written(program.inputs.size());
  for (const program::Step& step : program.steps) {
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      const program::BufferRef root = root_of(program, step.buffers[i]);
      if (step.writes[i] && root.kind == program::BufferKind::Input)
        written[static_cast<size_t>(root.index)] = true;
    }
  }
  return written;
}

// Whether an extent may be both.
bool may_be_equal(const Dim& a, const Dim& b) {
  const Bounds first = a.bounds(), second = b.bounds();
  return std::max(first.lo, second.lo) <= std::min(first.hi, second.hi);
}

}  // namespace

Handles::Handles(const program::Program& program, DeviceStream& stream)
    : program_(&program),
      stream_(&stream),
      handles_(program.inputs.size()),
      redirected_(program.outputs.size()),
      written_(written_inputs(program)) {}

void Handles::copy_from(const Handles& other) {
  for (size_t i = 0; i < handles_.size(); ++i) {
    handles_[i] = {other.handles_[i].value, other.handles_[i].fed_by, {}};
  }
  feeds_ = other.feeds_;
}

void Handles::clear() {
  for (Handle& handle : handles_) handle = {};
  feeds_ = 0;
}

bool Handles::change() const {
  for (size_t i = 0; i < handles_.size(); ++i) {
    if (handles_[i].fed_by >= 0 || (handles_[i].value && written_[i])) return true;
  }
  return false;
}

// What is wrong at every extent; the rest a run finds.
Status Handles::check(int input, DType dtype, std::span<const int64_t> shape) const {
  const program::IoSlot& io = slot(input);
  const auto& dims = io.type.shape.dims();
  bool fits = dtype == io.type.dtype && shape.size() == dims.size();
  for (size_t axis = 0; fits && axis < dims.size(); ++axis) {
    fits = dims[axis].bounds().contains(shape[axis]);
  }
  if (!fits) {
    return user_error("[bind_handle] input \"{}\" is {}, but {}{} is given", io.name,
                      io.type.to_string(), to_string(dtype), text(shape));
  }
  if (io.state && shape[static_cast<size_t>(io.state->axis)] > io.state->capacity) {
    return user_error("[bind_handle] the state \"{}\" {} has capacity {}, but {} is given", io.name,
                      io.type.to_string(), io.state->capacity, text(shape));
  }
  return {};
}

size_t Handles::axis_of(int input) const {
  const auto& state = slot(input).state;
  return state ? static_cast<size_t>(state->axis) : 0;
}

Handles::Pieces Handles::pieces_of(int input, std::span<const int64_t> shape) const {
  const program::IoSlot& io = slot(input);
  const size_t axis = axis_of(input);
  Pieces pieces{1, size_of(io.type.dtype), size_of(io.type.dtype)};
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i < axis) {
      pieces.count *= shape[i];
      continue;
    }
    pieces.bytes *= shape[i];
    pieces.stride *= io.state && i == axis ? io.state->capacity : shape[i];
  }
  return pieces;
}

bool Handles::is_shared(const HandleValue& value) {
  const bool shared = value.memory.use_count() > 1;
  std::atomic_thread_fence(std::memory_order_acquire);  // others have let go before
  return shared;
}

Status Handles::make_room(int input, std::span<const int64_t> shape, HandleValue& value) const {
  const program::IoSlot& io = slot(input);
  if (!value || is_shared(value))
    value.memory = std::make_shared<HandleMemory>(stream_->lasting_memory());
  value.dtype = io.type.dtype;
  value.shape.assign(shape.begin(), shape.end());
  value.capacity = value.shape;
  if (io.state) value.capacity[static_cast<size_t>(io.state->axis)] = io.state->capacity;
  const auto bytes = dense_bytes(value.dtype, value.capacity);
  if (!bytes) return bytes.error();
  return value.memory->block.reserve(std::max<int64_t>(bytes.value(), 1), "a handle");
}

Status Handles::bind(int input, const IoView& value) {
  if (Status status = check(input, value.dtype, value.shape); !status.ok()) return status;
  if (!capacity_fits(value) || has_gaps(value)) {
    return user_error(
        "[bind_handle] \"{}\": the value must be dense, but has shape {} and capacity {}",
        slot(input).name, text(value.shape), text(value.capacity));
  }
  const Pieces pieces = pieces_of(input, value.shape);
  if (!value.data && pieces.count * pieces.bytes > 0)
    return user_error("[bind_handle] \"{}\" has no data (null pointer)", slot(input).name);
  HandleValue fresh;
  if (Status status = make_room(input, value.shape, fresh); !status.ok()) return status;
  std::byte* to = fresh.memory->block.data();
  const auto* from = static_cast<const std::byte*>(value.data);
  for (int64_t i = 0; i < pieces.count && pieces.bytes > 0; ++i) {
    const Status status =
        stream_->copy_in(to + i * pieces.stride, from + i * pieces.bytes, pieces.bytes);
    if (!status.ok()) return status;
  }
  // Other streams may read it from here on.
  if (Status status = stream_->synchronize(); !status.ok()) return status;
  at(input).value = std::move(fresh);
  return {};
}

Status Handles::bind(int input, const HandleValue& value) {
  if (Status status = check(input, value.dtype, value.shape); !status.ok()) return status;
  const program::IoSlot& io = slot(input);
  if (value.memory->memory != stream_->lasting_memory())
    return user_error("[bind_handle] \"{}\": the handle is on another device", io.name);
  std::vector<int64_t> needed = value.shape;
  if (io.state) needed[static_cast<size_t>(io.state->axis)] = io.state->capacity;
  if (value.capacity != needed) {
    return user_error("[bind_handle] \"{}\" has capacity {}, but the handle's is {}", io.name,
                      text(needed), text(value.capacity));
  }
  at(input).value = value;
  return {};
}

Result<std::vector<std::byte>> Handles::read(int input) {
  const HandleValue& value = at(input).value;
  const Pieces pieces = pieces_of(input, value.shape);
  std::vector<std::byte> bytes(static_cast<size_t>(pieces.count * pieces.bytes));
  for (int64_t i = 0; i < pieces.count && pieces.bytes > 0; ++i) {
    const Status status =
        stream_->copy_out(bytes.data() + i * pieces.bytes,
                          value.memory->block.data() + i * pieces.stride, pieces.bytes);
    if (!status.ok()) return status.error();
  }
  if (Status status = stream_->synchronize(); !status.ok()) return status.error();
  return bytes;
}

Status Handles::trim(int input, int64_t length) {
  const program::IoSlot& io = slot(input);
  HandleValue& value = at(input).value;
  if (value.shape.empty()) return user_error("[trim_handle] \"{}\" is a scalar", io.name);
  const size_t axis = axis_of(input);
  if (length < 0 || length > value.shape[axis]) {
    return user_error("[trim_handle] \"{}\" has a length of {}: it cannot become {}", io.name,
                      value.shape[axis], length);
  }
  if (!io.type.shape[static_cast<int>(axis)].bounds().contains(length)) {
    return user_error("[trim_handle] \"{}\" is {}: its length cannot become {}", io.name,
                      io.type.to_string(), length);
  }
  value.shape[axis] = length;
  if (!io.state) value.capacity[axis] = length;
  return {};
}

Status Handles::check_feed(int input, int output) const {
  const program::IoSlot &to = slot(input), &from = program_->outputs[static_cast<size_t>(output)];
  if (to.state)
    return user_error("[set_handle_feed] \"{}\" is a state: runs update it themselves", to.name);
  if (from.late >= 0) {
    return unsupported_error("[set_handle_feed] the extents of output \"{}\" {} only a run knows",
                             from.name, from.type.to_string());
  }
  if (from.type.dtype != to.type.dtype ||
      !std::ranges::equal(from.type.shape, to.type.shape, may_be_equal)) {
    return user_error("[set_handle_feed] output \"{}\" {} is no value of input \"{}\" {}",
                      from.name, from.type.to_string(), to.name, to.type.to_string());
  }
  if (is_fed_by(output) && at(input).fed_by != output)
    return user_error("[set_handle_feed] output \"{}\" feeds another handle", from.name);
  return {};
}

Status Handles::feed(int input, int output) {
  Handle& handle = at(input);
  if (output >= 0) {
    if (Status status = check_feed(input, output); !status.ok()) return status;
  }
  feeds_ += (output >= 0 ? 1 : 0) - (handle.fed_by >= 0 ? 1 : 0);
  handle.fed_by = output;
  return {};
}

bool Handles::is_fed_by(int output) const {
  return std::ranges::any_of(
      handles_, [&](const Handle& handle) { return handle.fed_by == output && output >= 0; });
}

Result<IoView> Handles::view(int input) {
  if (Status status = own(input); !status.ok()) return status.error();
  return shown(input);
}

Status Handles::own_states() {
  for (size_t i = 0; i < handles_.size(); ++i) {
    if (Status status = own(static_cast<int>(i)); !status.ok()) return status;
  }
  return {};
}

Status Handles::own(int input) {
  HandleValue& value = at(input).value;
  if (!written_[static_cast<size_t>(input)] || !is_shared(value)) return {};
  HandleValue own;
  if (Status status = make_room(input, value.shape, own); !status.ok()) return status;
  const Pieces pieces = pieces_of(input, value.shape);
  for (int64_t i = 0; i < pieces.count && pieces.bytes > 0; ++i) {
    const int64_t first = i * pieces.stride;
    const Status status = stream_->copy_within(own.memory->block.data() + first,
                                               value.memory->block.data() + first, pieces.bytes);
    if (!status.ok()) return status;
  }
  // The memory is another's from here on, who may write it.
  if (Status status = stream_->synchronize(); !status.ok()) return status;
  value = std::move(own);
  return {};
}

Result<std::span<const IoView>> Handles::redirect(std::span<const IoView> outputs,
                                                  const ExtentsOf& extents) {
  std::ranges::copy(outputs, redirected_.begin());
  for (size_t i = 0; i < handles_.size(); ++i) {
    Handle& handle = handles_[i];
    if (handle.fed_by < 0) continue;
    if (Status status = make_room(static_cast<int>(i), extents(handle.fed_by), handle.next);
        !status.ok())
      return status.error();
    redirected_[static_cast<size_t>(handle.fed_by)] = handle.next.view();
  }
  return std::span<const IoView>(redirected_);
}

void Handles::advance(const LengthOf& length) {
  for (size_t i = 0; i < handles_.size(); ++i) {
    Handle& handle = handles_[i];
    if (handle.fed_by >= 0) std::swap(handle.value, handle.next);
    if (!written_[i] || !handle.value) continue;
    int64_t& present = handle.value.shape[axis_of(static_cast<int>(i))];
    handle.length_before = std::exchange(present, length(static_cast<int>(i)));
  }
}

void Handles::take_back() {
  for (size_t i = 0; i < handles_.size(); ++i) {
    Handle& handle = handles_[i];
    if (handle.fed_by >= 0) std::swap(handle.value, handle.next);
    if (written_[i] && handle.value)
      handle.value.shape[axis_of(static_cast<int>(i))] = handle.length_before;
  }
}

}  // namespace tenon::runtime
