// See program_builder.h. Steps are in the order of the regions; a step's buffers are the kernel's
// global buffers.
#include "driver/program_builder.h"

#include <algorithm>

#include "base/error.h"
#include "graph/host_ops.h"
#include "graph/state.h"
#include "kernel/in_place.h"
#include "lower/lower.h"
#include "schedule/dots.h"

namespace tenon::driver {

using graph::Value;
using program::BufferKind;
using program::BufferRef;

namespace {

// By the tiles of its contractions.
program::Arithmetic arithmetic_of(const kernel::Kernel& scheduled) {
  if (schedule::has_dot2(scheduled)) return program::Arithmetic::Bf16;
  auto found = program::Arithmetic::F32;
  kernel::for_each(scheduled.body, [&](const kernel::Stmt& stmt) {
    const auto* mma = stmt.as<kernel::Mma>();
    if (mma && scheduled.buffers[static_cast<size_t>(mma->acc)].dtype == DType::I32)
      found = program::Arithmetic::Int8;
  });
  return found;
}

// At least the extent, and free of the extent's upper bound.
Symbol capacity_symbol(const std::string& name, int axis, const Dim& extent) {
  const Symbol plain(fmt::format("{}.cap{}", name, axis));
  return Symbol(plain.name(), {extent.bounds().lo, plain.bounds().hi});
}

// Every symbolic axis but the outermost has a capacity of its own, so that memory may be larger
// than what is in it.
program::IoSlot io_slot(const std::string& name, const TensorType& type,
                        const std::optional<graph::StateLayout>& state = {}) {
  program::IoSlot slot{name, type, {}, {}, -1};
  if (state) {
    const auto axis = static_cast<int>(state->axis);
    slot.state = program::StateSlot{axis, state->capacity, type.shape[axis]};
  }
  const int rank = type.shape.rank();
  slot.strides.resize(static_cast<size_t>(rank));
  for (int axis = 0; axis < rank; ++axis) {
    const Dim& extent = type.shape[axis];
    const bool own = axis > 0 && !extent.is_const();
    const bool grows = slot.state && slot.state->axis == axis;
    slot.capacity.push_back(grows ? Dim(slot.state->capacity)
                            : own ? Dim(capacity_symbol(name, axis, extent))
                                  : extent);
  }
  Dim stride = 1;
  for (int axis = rank; axis-- > 0;) {
    slot.strides[static_cast<size_t>(axis)] = stride;
    stride = stride * slot.capacity[static_cast<size_t>(axis)];
  }
  return slot;
}

}  // namespace

ProgramBuilder::ProgramBuilder(const graph::Graph& graph, const fuse::Regions& regions,
                               ScheduleKernel schedule_kernel, std::set<std::string> outer,
                               CompileBody compile_body)
    : graph_(graph),
      regions_(regions),
      copies_(graph.context()),
      schedule_kernel_(std::move(schedule_kernel)),
      outer_(std::move(outer)),
      compile_body_(std::move(compile_body)) {
  declare_leaves();
  declare_updates();
  for (const Value& root : regions_.roots) {
    if (!graph::is_host_op(root.op())) continue;
    host_values_.insert(root);
    for (const Value& operand : root.node->operands()) host_values_.insert(operand);
  }
  declare_outputs();
  for (const auto* slots : {&program_.inputs, &program_.outputs}) {
    for (const program::IoSlot& slot : *slots) {
      for (size_t axis = 0; axis < slot.capacity.size(); ++axis) {
        const auto symbol = slot.capacity[axis].as_symbol();
        const bool own = symbol && slot.capacity[axis] != slot.type.shape[static_cast<int>(axis)];
        if (own) capacities_.insert(symbol->name());
      }
    }
  }
}

void ProgramBuilder::declare_leaves() {
  for (const Value& input : graph_.inputs()) {
    buffers_[input] = {BufferKind::Input, static_cast<int>(program_.inputs.size())};
    program_.inputs.push_back(
        io_slot(input.node->name(), input.type(), graph::state_layout(input)));
    strides_[input] = program_.inputs.back().strides;
  }
  program_.symbols = symbols_of_inputs();
  for (const Value& param : graph_.params()) {
    buffers_[param] = {BufferKind::Param, static_cast<int>(program_.params.size())};
    program::ParamSlot slot{param.node->name(), param.type(), {}, {}};
    if (const graph::Data* data = graph_.param_data(param.node->name()))
      slot.initial = data->bytes, slot.owner = data->owner;
    program_.params.push_back(std::move(slot));
  }
  for (const auto& [name, symbol] : graph_.symbols()) symbol_names_.insert(name);
  known_ = outer_;
  for (const Symbol& symbol : program_.symbols) {
    known_.insert(symbol.name());
    outer_.erase(symbol.name());
  }
}

// What the inputs decide. In a body, a symbol from around that is no axis by itself (an extent of
// hidden*3) keeps the value it has there.
std::vector<Symbol> ProgramBuilder::symbols_of_inputs() const {
  std::vector<Symbol> axes, others;
  const auto note = [](std::vector<Symbol>& to, const Symbol& symbol) {
    if (std::find(to.begin(), to.end(), symbol) == to.end()) to.push_back(symbol);
  };
  for (const Value& input : graph_.inputs()) {
    for (const Dim& dim : input.shape()) {
      if (const auto symbol = dim.as_symbol()) note(axes, *symbol);
      for (const Symbol& symbol : dim.symbols()) {
        if (!outer_.contains(symbol.name())) note(others, symbol);
      }
    }
  }
  for (const Symbol& symbol : others) note(axes, symbol);
  return axes;
}

// Extents that a step defines are known at the end only; what a host step reads or gives is dense.
bool ProgramBuilder::is_late(const graph::Output& output) const {
  if (host_values_.contains(output.value)) return true;
  for (const Dim& extent : output.value.shape()) {
    for (const Symbol& symbol : extent.symbols()) {
      if (!known_.contains(symbol.name())) return true;
    }
  }
  return false;
}

// An update has the memory of what it updates.
void ProgramBuilder::declare_updates() {
  for (const Value& root : regions_.roots) {
    if (root.op() != graph::Op::Update) continue;
    const Value before = root.node->operand(0);
    buffers_[root] = buffers_.at(before);
    strides_[root] = strides_.at(before);
  }
}

void ProgramBuilder::declare_length(const graph::Output& state) {
  program::IoSlot& slot = program_.inputs[static_cast<size_t>(buffers_.at(state.value).index)];
  slot.state->length = state.value.shape()[slot.state->axis];
  for (const Symbol& symbol : slot.state->length.symbols()) {
    if (!known_.contains(symbol.name()))
      throw unsupported_error("[update] how long the state \"{}\" becomes, {}, only a run knows",
                              state.name, slot.state->length.to_string());
  }
}

void ProgramBuilder::declare_outputs() {
  for (const graph::Output& output : graph_.outputs()) {
    if (graph::is_state_output(output)) {
      declare_length(output);
      continue;
    }
    if (is_late(output)) {
      const TensorType& type = output.value.type();
      program_.outputs.push_back({output.name, type, type.shape.strides(), type.shape.dims(),
                                  buffer_of(output.value).index});
      continue;
    }
    buffers_[output.value] = {BufferKind::Output, static_cast<int>(program_.outputs.size())};
    program_.outputs.push_back(io_slot(output.name, output.value.type()));
    strides_[output.value] = program_.outputs.back().strides;
  }
}

std::vector<Dim> ProgramBuilder::strides_of(Value value) const {
  const auto it = strides_.find(value);
  return it == strides_.end() ? fuse::strides_of(regions_, value) : it->second;
}

BufferRef ProgramBuilder::buffer_of(Value value) {
  if (const auto it = buffers_.find(value); it != buffers_.end()) return it->second;
  BufferRef ref{};
  if (value.op() == graph::Op::Constant) {
    ref = {BufferKind::Constant, static_cast<int>(program_.constants.size())};
    const auto bytes = value.node->bytes();
    program_.constants.push_back({value.type(), {bytes.begin(), bytes.end()}});
  } else if (regions_.prologue.contains(value)) {
    ref = {BufferKind::Packed, static_cast<int>(program_.packed.size())};
    program_.packed.push_back({value.type().bytes().const_value()});
  } else if (const auto place = regions_.places.find(value); place != regions_.places.end()) {
    ref = view_of(buffer_of(place->second.in), place->second.offset, value.type());
  } else {
    ref = {BufferKind::Arena, static_cast<int>(program_.arena.size())};
    program_.arena.push_back({value.type().bytes()});
  }
  return buffers_[value] = ref;
}

BufferRef ProgramBuilder::view_of(BufferRef whole, const Dim& first, const TensorType& type) {
  const BufferRef ref{BufferKind::Arena, static_cast<int>(program_.arena.size())};
  program_.arena.push_back({type.bytes(), -1, program::View{whole, first * size_of(type.dtype)}});
  return ref;
}

void ProgramBuilder::lower() {
  for (const Value& root : regions_.roots) {
    if (!graph::is_host_op(root.op())) {
      lower_root(root);
    } else if (host_done_.insert(root.node).second) {
      host_step(*root.node);
    }
  }
  note_given();
}

void ProgramBuilder::lower_root(Value root) {
  if (const auto parts = regions_.assembled.find(root); parts != regions_.assembled.end()) {
    assemble(root, parts->second);
  } else {
    lower_into(root, buffer_of(root), std::string(graph_.origin(root.node)));
  }
}

// What lies in the root's memory already needs nothing more; the other parts are put there.
void ProgramBuilder::assemble(Value root, const std::vector<fuse::Part>& parts) {
  const std::string origin(graph_.origin(root.node));
  const auto found = regions_.places.find(root);
  const fuse::Place place = found == regions_.places.end() ? fuse::Place{root, 0} : found->second;
  for (const fuse::Part& part : parts) {
    const bool stored = regions_.stored.contains(part.value);
    const Value value =
        stored ? copies_.reshape(part.value, part.value.shape().dims()) : part.value;
    const BufferRef destination =
        view_of(buffer_of(place.in), place.offset + part.offset, value.type());
    lower_into(value, destination, origin);
  }
}

void ProgramBuilder::lower_into(Value value, BufferRef destination, const std::string& origin) {
  if (value.shape().elements().is_const(0)) return;  // nothing to compute at any shape
  const lower::Layout layout = [this](Value value) { return strides_of(value); };
  const lower::Lowered lowered = lower::lower(value, regions_, layout, symbol_names_);
  const bool in_prologue = regions_.prologue.contains(value);
  const schedule::Scheduled& scheduled = scheduled_kernel(lowered.kernel, in_prologue);
  const size_t result = lowered.arguments.size() - 1;
  std::vector<BufferRef> buffers;
  for (const kernel::Buffer& buffer : scheduled.kernel.buffers) {
    if (buffer.storage != kernel::Storage::Global) continue;
    const auto index = static_cast<size_t>(buffer.source_index);
    if (buffer.source == kernel::Source::Packed) {
      buffers.push_back(pack(scheduled.packs[index], lowered.arguments, origin));
    } else {
      buffers.push_back(index == result ? destination : buffer_of(lowered.arguments[index]));
    }
  }
  auto& steps = in_prologue ? program_.prologue : program_.steps;
  steps.push_back(make_step(scheduled.kernel, std::move(buffers), origin));
}

program::Step step_of(const kernel::Kernel& kernel) {
  program::Step step;
  for (const kernel::Buffer& buffer : kernel.buffers) {
    if (buffer.storage == kernel::Storage::Global) step.writes.push_back(buffer.written);
  }
  for (const Symbol& symbol : kernel.dims) step.dims.emplace_back(symbol);
  step.grid = kernel.grid();
  step.scratch_bytes = kernel.scratch_bytes();
  step.flops = kernel.flops;
  step.bytes = kernel.bytes;
  step.arithmetic = arithmetic_of(kernel);
  step.kind = kernel.name;
  step.in_place = kernel::in_place_pairs(kernel);
  return step;
}

// Models repeat their layers: equal kernels are scheduled once. What it returns stays where it is.
const schedule::Scheduled& ProgramBuilder::scheduled_kernel(const kernel::Kernel& lowered,
                                                            bool in_prologue) {
  const auto [it, fresh] = schedules_.try_emplace(kernel::print(lowered));
  schedule::Scheduled& scheduled = it->second;
  if (!fresh) return scheduled;
  scheduled = schedule_kernel_(lowered, in_prologue);
#ifdef TENON_VERIFY
  kernel::verify(lowered);
  kernel::verify(scheduled.kernel);
  for (const kernel::Kernel& pack : scheduled.packs) kernel::verify(pack);
#endif
  return scheduled;
}

// The buffer that a pack kernel fills. Of parameters only: once, shared by all that pack the same
// the same way.
BufferRef ProgramBuilder::pack(const kernel::Kernel& pack, const std::vector<Value>& arguments,
                               const std::string& origin) {
  const kernel::Buffer* filled = nullptr;
  std::vector<BufferRef> buffers;
  std::pair<int, std::vector<std::pair<int, int>>> key{kernel_index(pack), {}};
  for (const kernel::Buffer& buffer : pack.buffers) {
    if (buffer.storage != kernel::Storage::Global) continue;
    if (buffer.source == kernel::Source::Packed) {
      filled = &buffer;
      continue;
    }
    buffers.push_back(buffer_of(arguments[static_cast<size_t>(buffer.source_index)]));
    key.second.emplace_back(static_cast<int>(buffers.back().kind), buffers.back().index);
  }
  const Dim bytes = filled->elements * size_of(filled->dtype);
  if (!filled->constant) {
    const BufferRef ref{BufferKind::Arena, static_cast<int>(program_.arena.size())};
    program_.arena.push_back({bytes});
    buffers.push_back(ref);
    program_.steps.push_back(make_step(pack, std::move(buffers), origin));
    return ref;
  }
  if (const auto it = packed_.find(key); it != packed_.end()) return it->second;
  const BufferRef ref{BufferKind::Packed, static_cast<int>(program_.packed.size())};
  program_.packed.push_back({bytes.const_value()});
  buffers.push_back(ref);
  program_.prologue.push_back(make_step(pack, std::move(buffers), origin));
  return packed_[key] = ref;
}

program::Step ProgramBuilder::make_step(const kernel::Kernel& kernel,
                                        std::vector<BufferRef> buffers, const std::string& origin) {
  program::Step step = step_of(kernel);
  step.code = kernel_index(kernel);
  step.buffers = std::move(buffers);
  step.origin = origin;
  return step;
}

int ProgramBuilder::kernel_index(const kernel::Kernel& kernel) {
  const int next = static_cast<int>(kernels_.size());
  const auto [known, first_time] = numbered_.try_emplace(&kernel, next);
  if (!first_time) return known->second;
  const auto [it, fresh] = kernel_numbers_.try_emplace(kernel::canonical_text(kernel), next);
  if (fresh) kernels_.push_back({kernel, it->first});
  return known->second = it->second;
}

}  // namespace tenon::driver
