#include "runtime/control_step.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "runtime/executor.h"

namespace tenon::runtime {
namespace {

std::vector<int> add_shape(DimTable& dims, const Shape& shape) {
  std::vector<int> positions;
  for (const Dim& extent : shape) positions.push_back(dims.add(extent));
  return positions;
}

}  // namespace

ControlStep::~ControlStep() = default;

Result<std::unique_ptr<ControlStep>> ControlStep::make(const program::Program& program,
                                                       int host_step,
                                                       std::shared_ptr<DeviceStream> stream,
                                                       const Variables& around) {
  const program::HostStep& step = program.host_steps[static_cast<size_t>(host_step)];
  std::unique_ptr<ControlStep> control(new ControlStep(step, std::move(stream)));
  for (const auto& body : step.bodies) {
    if (Status status = control->add_body(body, around); !status.ok()) return status.error();
  }
  control->operand_dims_ = control->known_dims_ = control->result_dims_ = DimTable(around);
  for (const auto& operand : step.operands) {
    control->operand_extents_.push_back(add_shape(control->operand_dims_, operand.type.shape));
    control->operand_shapes_.emplace_back(operand.type.shape.dims().size());
  }
  control->operands_.resize(step.operands.size());
  const program::Stages stages(program);
  for (const auto& result : step.results) {
    control->result_extents_.push_back(add_shape(control->result_dims_, result.type.shape));
    std::vector<int>& known = control->known_extents_.emplace_back();
    for (const Dim& extent : result.type.shape) {
      known.push_back(stages.of(extent) <= host_step ? control->known_dims_.add(extent) : -1);
    }
  }
  for (const DimTable* dims : {&control->operand_dims_, &control->result_dims_}) {
    if (!dims->unknown_symbol().empty())
      return internal_error("[program] host step '{}' depends on {}, which nothing defines",
                            step.origin, dims->unknown_symbol());
  }
  control->results_.resize(step.results.size());
  control->scans_.resize(step.results.size() - static_cast<size_t>(step.carried));
  for (Stack& scan : control->scans_) scan.block = MemoryBlock(*control->stream_);
  control->find_symbols();
  return control;
}

Status ControlStep::add_body(std::shared_ptr<const program::Program> program,
                             const Variables& around) {
  Body& body = bodies_.emplace_back();
  for (const Symbol& symbol : program->given) {
    const auto found = around.find(symbol.name());
    if (found == around.end())
      return unsupported_error("extent {} is not an axis of any input", symbol.name());
    body.given.push_back(found->second);
  }
  body.outputs.resize(program->outputs.size());
  for (Held& held : body.outputs) {
    for (MemoryBlock& block : held.blocks) block = MemoryBlock(*stream_);
  }
  body.output_views.resize(program->outputs.size());
  auto executor = Executor::load(std::move(program), stream_);
  if (!executor) return executor.error();
  body.executor = std::move(executor.value());
  return {};
}

void ControlStep::find_symbols() {
  for (const Symbol& symbol : step_->symbols) {
    for (size_t i = 0; i < step_->results.size(); ++i) {
      const Shape& shape = step_->results[i].type.shape;
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] != Dim(symbol)) continue;
        symbol_axes_.emplace_back(static_cast<int>(i), axis);
        i = step_->results.size();
        break;
      }
    }
  }
  symbol_values_.resize(symbol_axes_.size());
}

void ControlStep::set_threads(int threads) {
  for (Body& body : bodies_) body.executor->set_threads(threads);
}

// What bodies gave: a loop's values of this iteration and the one before, and what it stacks.
int64_t ControlStep::held_bytes() const {
  const int64_t turns = step_->kind == program::HostKind::Loop ? 2 : 1;
  int64_t bytes = 0;
  for (const Body& body : bodies_) {
    for (const Held& held : body.outputs) bytes += turns * held.bytes;
  }
  for (const Stack& scan : scans_) bytes += scan.bytes;
  return bytes;
}

Status ControlStep::check_memory(const RunOptions& options) const {
  if (options.memory_limit <= 0) return {};
  const int64_t held = held_bytes();
  if (options.memory_around + held <= options.memory_limit) return {};
  return user_error(
      "[run] {} bytes are needed ({} for what the bodies of {} give), but the limit is {}",
      options.memory_around + held, held, step_->origin, options.memory_limit);
}

// The body's outputs go to the blocks of this turn.
Status ControlStep::run_body(Body& body, std::span<const IoView> inputs,
                             std::span<const int64_t> variables, int turn,
                             const RunOptions& options) {
  Executor& executor = *body.executor;
  const auto& slots = executor.program().outputs;
  for (size_t i = 0; i < body.given.size(); ++i) {
    executor.give(static_cast<int>(i), variables[static_cast<size_t>(body.given[i])]);
  }
  if (Status status = executor.bind(inputs); !status.ok()) return status;
  auto reserve = [&](size_t i) -> Status {
    Held& held = body.outputs[i];
    const auto extents = executor.output_extents(static_cast<int>(i));
    held.shape.assign(extents.begin(), extents.end());
    const Result<int64_t> bytes = dense_bytes(slots[i].type.dtype, held.shape);
    if (!bytes) return bytes.error();
    held.bytes = bytes.value();
    held.data = nullptr;
    if (Status status = check_memory(options); !status.ok()) return status;
    MemoryBlock& block = held.blocks[turn];
    if (Status status = block.reserve(std::max<int64_t>(held.bytes, 1), "a body's output");
        !status.ok())
      return status;
    held.data = block.data();
    return {};
  };
  for (size_t i = 0; i < slots.size(); ++i) {
    body.output_views[i] = {};
    if (slots[i].late >= 0) continue;
    if (Status status = reserve(i); !status.ok()) return status;
    const Held& held = body.outputs[i];
    body.output_views[i] = {
        const_cast<void*>(held.data), slots[i].type.dtype, held.shape, {}, true};
  }
  RunOptions inside = options;
  if (options.memory_limit > 0) inside.memory_around += held_bytes();
  if (Status status = executor.commit(body.output_views, inside); !status.ok()) {
    cancelled_ = executor.cancelled();
    return status;
  }
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].late < 0) continue;
    if (Status status = reserve(i); !status.ok()) return status;
    const Held& held = body.outputs[i];
    if (Status status = stream_->copy_within(const_cast<void*>(held.data),
                                             executor.late_output(static_cast<int>(i)), held.bytes);
        !status.ok())
      return status;
  }
  return {};
}

Status ControlStep::run(std::span<void* const> operands, std::span<const int64_t> variables,
                        const RunOptions& options) {
  cancelled_ = false;
  for (Body& body : bodies_) {
    for (Held& held : body.outputs) held.bytes = 0;
  }
  if (!operand_dims_.evaluate(variables) || !known_dims_.evaluate(variables))
    return user_error("{}: extents are too large to compute with", step_->origin);
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t axis = 0; axis < operand_extents_[i].size(); ++axis) {
      operand_shapes_[i][axis] = operand_dims_[operand_extents_[i][axis]];
    }
    operands_[i] = {operands[i], step_->operands[i].type.dtype, operand_shapes_[i], {}, true};
  }
  Status status = step_->kind == program::HostKind::If ? run_if(variables, options)
                                                       : run_loop(variables, options);
  if (!status.ok()) return status;
  for (size_t i = 0; i < symbol_axes_.size(); ++i) {
    const auto [result, axis] = symbol_axes_[i];
    symbol_values_[i] = results_[static_cast<size_t>(result)].shape[static_cast<size_t>(axis)];
  }
  return {};
}

Result<bool> ControlStep::is_true(const void* scalar) const {
  uint8_t value = 0;
  if (Status status = stream_->read(&value, scalar, sizeof(value)); !status.ok())
    return status.error();
  return value != 0;
}

Status ControlStep::run_if(std::span<const int64_t> variables, const RunOptions& options) {
  const Result<bool> condition = is_true(operands_[0].data);
  if (!condition) return condition.error();
  const bool taken = condition.value();
  Body& body = bodies_[taken ? 0 : 1];
  const size_t first = taken ? 1 : 1 + bodies_[0].executor->program().inputs.size();
  const std::span<const IoView> inputs(operands_);
  const size_t count = body.executor->program().inputs.size();
  if (Status status = run_body(body, inputs.subspan(first, count), variables, 0, options);
      !status.ok())
    return status;
  for (size_t i = 0; i < results_.size(); ++i) {
    results_[i].data = body.outputs[i].data;
    results_[i].shape = body.outputs[i].shape;
    results_[i].bytes = body.outputs[i].bytes;
  }
  return {};
}

Status ControlStep::run_loop(std::span<const int64_t> variables, const RunOptions& options) {
  Body& body = bodies_[0];
  const auto carried = static_cast<size_t>(step_->carried);
  int64_t trip = 0, trips = 0;
  uint8_t condition = 0;
  if (Status status = stream_->copy_out(&trips, operands_[0].data, sizeof(trips)); !status.ok())
    return status;
  if (Status status = stream_->read(&condition, operands_[1].data, sizeof(condition)); !status.ok())
    return status;
  condition = condition != 0 ? 1 : 0;
  operands_[0].data = &trip;
  operands_[1].data = &condition;
  operands_[0].on_device = operands_[1].on_device = false;
  for (Stack& scan : scans_) scan.count = scan.bytes = 0;
  for (size_t i = 0; i < carried; ++i) {
    const IoView& start = operands_[2 + i];
    const Result<int64_t> bytes = dense_bytes(start.dtype, start.shape);
    if (!bytes) return bytes.error();
    results_[i].data = start.data;
    results_[i].shape.assign(start.shape.begin(), start.shape.end());
    results_[i].bytes = bytes.value();
  }
  for (; trip < trips && condition != 0; ++trip) {
    cancelled_ = options.stop.stop_requested();
    if (cancelled_) return user_error("[run] cancelled");
    if (Status status = run_body(body, operands_, variables, static_cast<int>(trip & 1), options);
        !status.ok())
      return status;
    const Result<bool> goes_on = is_true(body.outputs[0].data);
    if (!goes_on) return goes_on.error();
    condition = goes_on.value() ? 1 : 0;
    for (size_t i = 0; i < carried; ++i) {
      const Held& next = body.outputs[1 + i];
      results_[i].data = next.data;
      results_[i].shape = next.shape;
      results_[i].bytes = next.bytes;
      operands_[2 + i].data = const_cast<void*>(next.data);
      operands_[2 + i].shape = results_[i].shape;
    }
    for (size_t i = 0; i < scans_.size(); ++i) {
      if (Status status = push(scans_[i], body.outputs[1 + carried + i]); !status.ok())
        return status;
    }
    if (Status status = check_memory(options); !status.ok()) return status;
  }
  for (size_t i = 0; i < scans_.size(); ++i) take(scans_[i], carried + i);
  return {};
}

Status ControlStep::push(Stack& stack, const Held& tensor) {
  if (stack.count > 0 && tensor.shape != stack.shape) {
    return user_error("{}: a scanned output has the shape [{}] after [{}]", step_->origin,
                      fmt::join(tensor.shape, ", "), fmt::join(stack.shape, ", "));
  }
  stack.shape = tensor.shape;
  ++stack.count;
  if (Status status = make_room(stack, stack.bytes + tensor.bytes); !status.ok()) return status;
  void* end = stack.block.data() + stack.bytes;
  stack.bytes += tensor.bytes;
  return stream_->copy_within(end, tensor.data, tensor.bytes);
}

// Twice what it had at least: the copies of a long loop are as many bytes as it gives.
Status ControlStep::make_room(Stack& stack, int64_t bytes) const {
  if (bytes <= stack.block.size()) return {};
  MemoryBlock larger(*stream_);
  const int64_t room = std::max(bytes, 2 * stack.block.size());
  if (Status status = larger.reserve(room, "a scanned output"); !status.ok()) return status;
  if (Status status = stream_->copy_within(larger.data(), stack.block.data(), stack.bytes);
      !status.ok())
    return status;
  stack.block = std::move(larger);
  return {};
}

// Of nothing, extents that only the body knows are 0.
void ControlStep::take(Stack& stack, size_t result) {
  Held& held = results_[result];
  const std::vector<int>& known = known_extents_[result];
  held.shape.assign(known.size(), 0);
  for (size_t axis = 1; axis < known.size(); ++axis) {
    if (stack.count > 0) {
      held.shape[axis] = stack.shape[axis - 1];
    } else if (known[axis] >= 0) {
      held.shape[axis] = known_dims_[known[axis]];
    }
  }
  held.shape[0] = stack.count;
  held.data = stack.block.data();
  held.bytes = stack.bytes;
}

Status ControlStep::deliver(std::span<void* const> results, std::span<const int64_t> variables) {
  if (!result_dims_.evaluate(variables))
    return user_error("{}: extents are too large to compute with", step_->origin);
  for (size_t i = 0; i < results_.size(); ++i) {
    const Held& held = results_[i];
    for (size_t axis = 0; axis < held.shape.size(); ++axis) {
      if (result_dims_[result_extents_[i][axis]] == held.shape[axis]) continue;
      return user_error("{}: result {} has extent {} on axis {}, where {} is expected",
                        step_->origin, i, held.shape[axis], axis,
                        step_->results[i].type.to_string());
    }
    if (Status status = stream_->copy_within(results[i], held.data, held.bytes); !status.ok())
      return status;
  }
  return {};
}

}  // namespace tenon::runtime
