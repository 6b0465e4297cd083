// See write_program.h.
#include "program/write_program.h"

#include <unordered_map>

#include "base/error.h"
#include "program/artifact_header.h"

namespace tenon::program {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

class ProgramWriter {
 public:
  ProgramWriter(const Program& program, ArtifactTables& shared, int depth = 0)
      : program_(program), shared_(shared), to_(shared.builder), depth_(depth) {
    if (depth > kMostBodies)
      throw unsupported_error("[save] more than {} bodies are inside of each other", kMostBodies);
  }

  Offset<file::Program> write();

 private:
  uint32_t number(const Symbol& symbol);
  uint32_t number(const Dim& dim);
  uint32_t number(const std::shared_ptr<const Code>& code);

  template <typename Items>
  Offset<flatbuffers::Vector<uint32_t>> numbers(const Items& items) {
    std::vector<uint32_t> result;
    for (const auto& item : items) result.push_back(number(item));
    return to_.CreateVector(result);
  }
  template <typename Items, typename Make>
  auto list(const Items& items, Make make) {
    std::vector<decltype(make(*items.begin()))> offsets;
    for (const auto& item : items) offsets.push_back(make(item));
    return to_.CreateVector(offsets);
  }
  Offset<flatbuffers::String> text(const std::string& value) {
    return value.size() <= kMostSharedText ? to_.CreateSharedString(value)
                                           : to_.CreateString(value);
  }
  auto bytes(const std::vector<std::byte>& value) {
    return to_.CreateVector(reinterpret_cast<const uint8_t*>(value.data()), value.size());
  }
  static file::BufferRef ref(const BufferRef& buffer) {
    return {static_cast<uint8_t>(buffer.kind), buffer.index};
  }

  Offset<file::TensorType> type(const TensorType& type);
  Offset<file::Constraint> constraint(const Constraint& constraint);
  Offset<file::IoSlot> io(const IoSlot& slot);
  Offset<file::ParamSlot> param(const ParamSlot& slot);
  Offset<file::ArenaBuffer> arena(const ArenaBuffer& buffer);
  Offset<file::ArenaPlan> plan();
  Offset<file::Step> step(const Step& step);
  Offset<file::HostTensor> host_tensor(const HostStep::Tensor& tensor);
  Offset<file::HostStep> host_step(const HostStep& step);

  const Program& program_;
  ArtifactTables& shared_;
  FlatBufferBuilder& to_;
  int depth_;  // of bodies inside of each other
  std::map<std::string, uint32_t> symbol_numbers_;
  std::unordered_map<Dim, uint32_t> dim_numbers_;
  std::vector<Offset<file::Symbol>> names_;
  std::vector<Offset<flatbuffers::String>> dims_;
};

uint32_t ProgramWriter::number(const Symbol& symbol) {
  TENON_CHECK(!symbol.extent(), "[program] the loop index {} is no extent", symbol.name());
  const auto [found, fresh] =
      symbol_numbers_.try_emplace(symbol.name(), static_cast<uint32_t>(names_.size()));
  if (fresh) {
    const Bounds bounds = symbol.bounds();
    names_.push_back(file::CreateSymbol(to_, text(symbol.name()), bounds.lo, bounds.hi));
  }
  return found->second;
}

uint32_t ProgramWriter::number(const Dim& dim) {
  const auto [found, fresh] = dim_numbers_.try_emplace(dim, static_cast<uint32_t>(dims_.size()));
  if (fresh) {
    for (const Symbol& symbol : dim.symbols()) number(symbol);
    dims_.push_back(to_.CreateString(dim.to_string()));
  }
  return found->second;
}

uint32_t ProgramWriter::number(const std::shared_ptr<const Code>& code) {
  const auto [found, fresh] =
      shared_.code_numbers.try_emplace(code.get(), static_cast<uint32_t>(shared_.code.size()));
  if (fresh) {
    shared_.code.push_back(file::CreateCode(to_, text(code->name), bytes(code->bytes), code->entry,
                                            code->threads, code->shared_bytes));
  }
  return found->second;
}

Offset<file::TensorType> ProgramWriter::type(const TensorType& type) {
  return file::CreateTensorType(to_, text(std::string(to_string(type.dtype))), numbers(type.shape));
}

Offset<file::Constraint> ProgramWriter::constraint(const Constraint& constraint) {
  const uint32_t left = number(constraint.left), right = number(constraint.right);
  return file::CreateConstraint(to_, static_cast<uint8_t>(constraint.kind), left, right,
                                text(constraint.why));
}

Offset<file::IoSlot> ProgramWriter::io(const IoSlot& slot) {
  Offset<file::State> state;
  if (slot.state) {
    const uint32_t length = number(slot.state->length);
    state = file::CreateState(to_, slot.state->axis, slot.state->capacity, length);
  }
  return file::CreateIoSlot(to_, text(slot.name), type(slot.type), numbers(slot.strides),
                            numbers(slot.capacity), slot.late, state);
}

Offset<file::ParamSlot> ProgramWriter::param(const ParamSlot& slot) {
  const int weight = slot.initial.empty() ? -1 : shared_.weights.add(slot.name, slot.initial);
  return file::CreateParamSlot(to_, text(slot.name), type(slot.type), weight);
}

Offset<file::ArenaBuffer> ProgramWriter::arena(const ArenaBuffer& buffer) {
  Offset<file::View> view;
  if (buffer.view) {
    const file::BufferRef root = ref(buffer.view->root);
    const uint32_t offset = number(buffer.view->offset);
    view = file::CreateView(to_, &root, offset);
  }
  const uint32_t bytes = number(buffer.bytes), offset = number(buffer.offset);
  return file::CreateArenaBuffer(to_, bytes, buffer.slot, view, offset);
}

Offset<file::ArenaPlan> ProgramWriter::plan() {
  const ArenaPlan& plan = program_.plan;
  const uint32_t bytes = number(plan.bytes), unshared = number(plan.unshared_bytes);
  return file::CreateArenaPlan(to_, numbers(plan.slot_bytes), numbers(plan.slot_offsets),
                               to_.CreateVector(plan.slot_stages), numbers(plan.stage_bytes), bytes,
                               unshared, plan.alignment);
}

Offset<file::Step> ProgramWriter::step(const Step& step) {
  std::vector<file::BufferRef> buffers;
  for (const BufferRef& buffer : step.buffers) buffers.push_back(ref(buffer));
  std::vector<file::InPlace> in_place;
  for (const auto& [result, operand] : step.in_place) in_place.emplace_back(result, operand);
  const uint32_t grid = number(step.grid), scratch = number(step.scratch_bytes),
                 flops = number(step.flops), bytes = number(step.bytes);
  return file::CreateStep(to_, static_cast<uint32_t>(step.code), to_.CreateVectorOfStructs(buffers),
                          to_.CreateVector(step.writes), numbers(step.dims), grid, scratch, flops,
                          bytes, text(step.kind), text(step.origin),
                          to_.CreateVectorOfStructs(in_place), step.with_previous,
                          static_cast<uint8_t>(step.arithmetic));
}

Offset<file::HostTensor> ProgramWriter::host_tensor(const HostStep::Tensor& tensor) {
  const file::BufferRef buffer = ref(tensor.buffer);
  return file::CreateHostTensor(to_, &buffer, type(tensor.type));
}

Offset<file::HostStep> ProgramWriter::host_step(const HostStep& step) {
  if (step.function)
    throw unsupported_error(
        "[custom {}] a custom function cannot be saved: it is code of the process that made it",
        step.function->name());
  const auto tensor = [&](const HostStep::Tensor& each) { return host_tensor(each); };
  const auto body = [&](const auto& each) {
    return ProgramWriter(*each, shared_, depth_ + 1).write();
  };
  return file::CreateHostStep(to_, static_cast<uint8_t>(step.kind), step.before,
                              list(step.operands, tensor), list(step.results, tensor),
                              numbers(step.symbols), list(step.bodies, body), step.carried,
                              text(step.origin));
}

Offset<file::Program> ProgramWriter::write() {
  const auto io_slot = [&](const IoSlot& slot) { return io(slot); };
  const auto any_step = [&](const Step& each) { return step(each); };
  const auto symbols = numbers(program_.symbols), given = numbers(program_.given);
  const auto constraints =
      list(program_.constraints, [&](const Constraint& each) { return constraint(each); });
  const auto inputs = list(program_.inputs, io_slot), outputs = list(program_.outputs, io_slot);
  const auto params = list(program_.params, [&](const ParamSlot& slot) { return param(slot); });
  const auto constants = list(program_.constants, [&](const ConstantSlot& slot) {
    return file::CreateConstantSlot(to_, type(slot.type), bytes(slot.bytes));
  });
  std::vector<int64_t> packed;
  for (const PackedSlot& slot : program_.packed) packed.push_back(slot.bytes);
  const auto packed_list = to_.CreateVector(packed);
  const auto arena_list =
      list(program_.arena, [&](const ArenaBuffer& buffer) { return arena(buffer); });
  const auto arena_plan = plan();
  const auto code = numbers(program_.code);
  const auto prologue = list(program_.prologue, any_step), steps = list(program_.steps, any_step);
  const auto host_steps =
      list(program_.host_steps, [&](const HostStep& each) { return host_step(each); });
  const auto names = to_.CreateVector(names_);
  const auto dims = to_.CreateVector(dims_);
  return file::CreateProgram(to_, static_cast<uint8_t>(program_.device), program_.cuda_arch,
                             static_cast<uint8_t>(program_.cpu.isa), program_.cpu.bf16,
                             program_.cpu.vnni, names, dims, symbols, given, constraints, inputs,
                             outputs, params, constants, packed_list, arena_list, arena_plan, code,
                             prologue, steps, host_steps);
}

}  // namespace

Offset<file::Program> write_program(const Program& program, ArtifactTables& to) {
  return ProgramWriter(program, to).write();
}

}  // namespace tenon::program
