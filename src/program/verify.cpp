// See verify.h. Returns instead of throwing: the runtime calls it.
#include "program/verify.h"

#include <algorithm>

#include "program/hazards.h"
#include "program/print.h"
#include "program/verify_host_steps.h"

namespace tenon::program {
namespace {

// How many buffers there are of a kind, and which kinds a step may write.
int count(const Program& program, BufferKind kind) {
  switch (kind) {
    case BufferKind::Input:
      return static_cast<int>(program.inputs.size());
    case BufferKind::Output:
      return static_cast<int>(program.outputs.size());
    case BufferKind::Param:
      return static_cast<int>(program.params.size());
    case BufferKind::Constant:
      return static_cast<int>(program.constants.size());
    case BufferKind::Packed:
      return static_cast<int>(program.packed.size());
    case BufferKind::Arena:
      return static_cast<int>(program.arena.size());
  }
  return 0;
}

bool writable(const Program& program, const BufferRef& ref, bool in_prologue) {
  if (ref.kind == BufferKind::Packed) return in_prologue;
  if (ref.kind == BufferKind::Input) return !in_prologue && program.inputs[ref.index].state;
  return ref.kind == BufferKind::Output || ref.kind == BufferKind::Arena;
}

bool readable(BufferKind kind, bool in_prologue) {
  return !in_prologue || (kind != BufferKind::Input && kind != BufferKind::Output);
}

// A view's root exists, is no view, and holds it where that can be decided.
Status verify_view(const Program& program, const View& view, const Dim& bytes, int slot) {
  const BufferRef root = view.root;
  if (root.index < 0 || root.index >= count(program, root.kind) ||
      (root.kind == BufferKind::Arena && program.arena[root.index].view)) {
    return internal_error("[program] a view has no root");
  }
  if (root.kind == BufferKind::Arena && program.arena[root.index].slot != slot)
    return internal_error("[program] a view lies in slot {}, its root elsewhere", slot);
  const Dim end = view.offset + bytes;
  if (prove_le(0, view.offset) == Proof::No ||
      prove_le(end, byte_range(program, root).end) == Proof::No) {
    return internal_error("[program] a view of bytes {} to {} lies outside {}",
                          view.offset.to_string(), end.to_string(), describe(program, root));
  }
  return {};
}

Status verify_step(const Program& program, const Step& step, bool in_prologue) {
  if (step.code < 0 || step.code >= static_cast<int>(program.code.size()) ||
      !program.code[step.code]) {
    return internal_error("[program] step '{}' has no code {}", step.origin, step.code);
  }
  if (step.writes.size() != step.buffers.size()) {
    return internal_error("[program] step '{}' has {} buffers but {} write flags", step.origin,
                          step.buffers.size(), step.writes.size());
  }
  const auto buffers = static_cast<int>(step.buffers.size());
  for (const auto& [result, operand] : step.in_place) {
    if (std::min(result, operand) < 0 || std::max(result, operand) >= buffers) {
      return internal_error("[program] step '{}' has no buffers {} and {}", step.origin, result,
                            operand);
    }
  }
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    if (Status status = verify_buffer(program, step.origin, step.buffers[i]); !status.ok())
      return status;
    const BufferRef ref = root_of(program, step.buffers[i]);
    if (step.writes[i] ? !writable(program, ref, in_prologue) : !readable(ref.kind, in_prologue)) {
      return internal_error("[program] step '{}', buffer {}: this kind may not be {} here",
                            step.origin, i, step.writes[i] ? "written" : "read");
    }
  }
  return {};
}

Status verify_io(const IoSlot& slot) {
  const size_t rank = slot.type.shape.dims().size();
  if (slot.strides.size() != rank || slot.capacity.size() != rank) {
    return internal_error("[program] \"{}\": rank {} but {} strides and {} capacities", slot.name,
                          rank, slot.strides.size(), slot.capacity.size());
  }
  if (!slot.state) return {};
  const StateSlot& state = *slot.state;
  const bool known = state.axis >= 0 && state.axis < static_cast<int>(rank);
  if (!known || !slot.capacity[static_cast<size_t>(state.axis)].is_const(state.capacity) ||
      prove_le(state.length, state.capacity) == Proof::No) {
    return internal_error("[program] the state \"{}\" {} has no capacity {} along axis {}",
                          slot.name, slot.type.to_string(), state.capacity, state.axis);
  }
  return {};
}

Status verify_plan(const Program& program) {
  const ArenaPlan& plan = program.plan;
  if (plan.slot_offsets.size() != plan.slot_bytes.size() ||
      plan.slot_stages.size() != plan.slot_bytes.size() ||
      plan.stage_bytes.size() != program.host_steps.size() + 1) {
    return internal_error("[program] the arena plan has {} slots, {} offsets and {} stages",
                          plan.slot_bytes.size(), plan.slot_offsets.size(),
                          plan.stage_bytes.size());
  }
  for (size_t slot = 0; slot < plan.slot_bytes.size(); ++slot) {
    const int stage = plan.slot_stages[slot];
    if (stage < 0 || stage >= static_cast<int>(plan.stage_bytes.size()))
      return internal_error("[program] slot {} of the arena belongs to stage {}", slot, stage);
    const Dim end = plan.slot_offsets[slot] + plan.slot_bytes[slot];
    if (prove_le(0, plan.slot_offsets[slot]) == Proof::No ||
        prove_le(end, plan.stage_bytes[static_cast<size_t>(stage)]) == Proof::No)
      return internal_error("[program] slot {} lies outside of the arena", slot);
  }
  for (const ArenaBuffer& buffer : program.arena) {
    if (buffer.slot >= static_cast<int>(plan.slot_bytes.size())) {
      return internal_error("[program] the arena has no slot {}", buffer.slot);
    }
    if (!buffer.view) {
      if (buffer.slot < 0) continue;
      const Dim& slot = plan.slot_bytes[static_cast<size_t>(buffer.slot)];
      if (prove_le(0, buffer.offset) == Proof::No ||
          prove_le(buffer.offset + buffer.bytes, slot) == Proof::No)
        return internal_error("[program] a buffer of slot {} lies outside of it", buffer.slot);
      continue;
    }
    if (Status status = verify_view(program, *buffer.view, buffer.bytes, buffer.slot); !status.ok())
      return status;
  }
  return {};
}

// Every output that is the caller's memory has a step that writes it.
Status verify_outputs(const Program& program) {
  std::vector<bool> written(program.outputs.size());
  for (const Step& step : program.steps) {
    for (size_t i = 0; i < step.buffers.size(); ++i) {
      const BufferRef root = root_of(program, step.buffers[i]);
      if (step.writes[i] && root.kind == BufferKind::Output) written[root.index] = true;
    }
  }
  for (size_t i = 0; i < written.size(); ++i) {
    const IoSlot& output = program.outputs[i];
    if (output.late >= 0) {
      const BufferRef late{BufferKind::Arena, output.late};
      const bool empty = late.index < count(program, late.kind) &&
                         program.arena[late.index].bytes.is_const(0);  // nobody writes it
      if (Status status = verify_buffer(program, output.name, late); !status.ok() && !empty)
        return status;
      if (prove_le(output.type.bytes(), program.arena[late.index].bytes) == Proof::No)
        return internal_error("[program] output \"{}\" is larger than its buffer", output.name);
    }
    if (written[i] || output.late >= 0 || output.type.bytes().is_const(0)) continue;
    return internal_error("[program] no step writes output \"{}\"", output.name);
  }
  return {};
}

Status verify_code(const Code& code) {
  if (code.entry < 0 || code.entry >= static_cast<int64_t>(code.bytes.size())) {
    return internal_error("[program] kernel {}: entry {} lies outside its {} bytes", code.name,
                          code.entry, code.bytes.size());
  }
  return {};
}

// Data has as many bytes as its type says.
Status verify_data(const Program& program) {
  for (const ParamSlot& slot : program.params) {
    if (slot.initial.empty() ||
        slot.type.bytes().is_const(static_cast<int64_t>(slot.initial.size())))
      continue;
    return internal_error("[program] parameter \"{}\" is {}, but has {} bytes", slot.name,
                          slot.type.to_string(), slot.initial.size());
  }
  for (const ConstantSlot& slot : program.constants) {
    if (slot.type.bytes().is_const(static_cast<int64_t>(slot.bytes.size()))) continue;
    return internal_error("[program] a constant is {}, but has {} bytes", slot.type.to_string(),
                          slot.bytes.size());
  }
  constexpr int64_t kMost = int64_t{1} << 46;
  int64_t packed = 0;
  for (const PackedSlot& slot : program.packed) {
    packed += std::clamp<int64_t>(slot.bytes, 0, kMost);
    if (slot.bytes >= 0 && packed <= kMost) continue;
    return internal_error("[program] a packed buffer has {} bytes", slot.bytes);
  }
  return {};
}

}  // namespace

Status verify_buffer(const Program& program, const std::string& origin, const BufferRef& ref) {
  if (ref.index < 0 || ref.index >= count(program, ref.kind)) {
    return internal_error("[program] step '{}': there is no buffer {} of its kind", origin,
                          ref.index);
  }
  if (ref.kind != BufferKind::Arena) return {};
  const ArenaBuffer& buffer = program.arena[ref.index];
  const bool elsewhere = buffer.view && buffer.view->root.kind != BufferKind::Arena;
  if (buffer.slot < 0 && !elsewhere) {
    return internal_error(
        "[program] step '{}': arena buffer {} has no slot; plan_arena comes first", origin,
        ref.index);
  }
  return {};
}

Status verify(const Program& program) {
  for (const auto& code : program.code) {
    if (!code) return internal_error("[program] a kernel has no code");
    if (Status status = verify_code(*code); !status.ok()) return status;
  }
  for (const auto* slots : {&program.inputs, &program.outputs}) {
    for (const IoSlot& slot : *slots) {
      if (Status status = verify_io(slot); !status.ok()) return status;
    }
  }
  if (Status status = verify_data(program); !status.ok()) return status;
  if (Status status = verify_plan(program); !status.ok()) return status;
  for (const Step& step : program.prologue) {
    if (Status status = verify_step(program, step, true); !status.ok()) return status;
  }
  for (const Step& step : program.steps) {
    if (Status status = verify_step(program, step, false); !status.ok()) return status;
  }
  if (Status status = verify_host_steps(program); !status.ok()) return status;
  if (Status status = verify_outputs(program); !status.ok()) return status;
  return verify_hazards(program);
}

Digest code_digest(std::span<const std::byte> bytes) { return Hasher().bytes(bytes).finish(); }

}  // namespace tenon::program
