// See verify.h. Returns instead of throwing: the runtime calls it.
#include "program/verify.h"

#include <algorithm>

#include "program/hazards.h"
#include "program/print.h"

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

bool writable(BufferKind kind, bool in_prologue) {
  if (kind == BufferKind::Packed) return in_prologue;
  return kind == BufferKind::Output || kind == BufferKind::Arena;
}

bool readable(BufferKind kind, bool in_prologue) {
  return !in_prologue || (kind != BufferKind::Input && kind != BufferKind::Output);
}

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

// A view's root exists, is no view, and holds it where that can be decided.
Status verify_view(const Program& program, const View& view, const Dim& bytes) {
  const BufferRef root = view.root;
  if (root.index < 0 || root.index >= count(program, root.kind) ||
      (root.kind == BufferKind::Arena && program.arena[root.index].view)) {
    return internal_error("[program] a view has no root");
  }
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
    if (step.writes[i] ? !writable(ref.kind, in_prologue) : !readable(ref.kind, in_prologue)) {
      return internal_error("[program] step '{}', buffer {}: this kind may not be {} here",
                            step.origin, i, step.writes[i] ? "written" : "read");
    }
  }
  return {};
}

struct HostRule {
  HostKind kind;
  size_t bodies;
};
constexpr HostRule kHostRules[] = {{HostKind::Define, 0}, {HostKind::If, 2}, {HostKind::Loop, 1}};

Status verify_host_step(const Program& program, const HostStep& step, int earliest) {
  const HostRule& rule = kHostRules[static_cast<int>(step.kind)];
  const auto last = static_cast<int>(program.steps.size());
  if (step.before < earliest || step.before > last || step.bodies.size() != rule.bodies) {
    return internal_error("[program] host step '{}' is out of place", step.origin);
  }
  for (const auto* tensors : {&step.operands, &step.results}) {
    for (const HostStep::Tensor& tensor : *tensors) {
      if (Status status = verify_buffer(program, step.origin, tensor.buffer); !status.ok())
        return status;
      const bool written = tensors == &step.results;
      if (tensor.buffer.kind == BufferKind::Output ||
          (written && tensor.buffer.kind != BufferKind::Arena)) {
        return internal_error("[program] host step '{}' cannot use this kind of buffer",
                              step.origin);
      }
    }
  }
  for (const auto& body : step.bodies) {
    if (!body) return internal_error("[program] host step '{}' lacks a body", step.origin);
  }
  return {};
}

Status verify_io(const IoSlot& slot) {
  const size_t rank = slot.type.shape.dims().size();
  if (slot.strides.size() != rank || slot.capacity.size() != rank) {
    return internal_error("[program] \"{}\": rank {} but {} strides and {} capacities", slot.name,
                          rank, slot.strides.size(), slot.capacity.size());
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
  for (const ArenaBuffer& buffer : program.arena) {
    if (buffer.slot >= static_cast<int>(plan.slot_bytes.size())) {
      return internal_error("[program] the arena has no slot {}", buffer.slot);
    }
    if (!buffer.view) continue;
    if (Status status = verify_view(program, *buffer.view, buffer.bytes); !status.ok())
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

}  // namespace

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
  if (Status status = verify_plan(program); !status.ok()) return status;
  for (const Step& step : program.prologue) {
    if (Status status = verify_step(program, step, true); !status.ok()) return status;
  }
  for (const Step& step : program.steps) {
    if (Status status = verify_step(program, step, false); !status.ok()) return status;
  }
  int earliest = 0;
  for (const HostStep& step : program.host_steps) {
    if (Status status = verify_host_step(program, step, earliest); !status.ok()) return status;
    earliest = step.before;
  }
  if (Status status = verify_outputs(program); !status.ok()) return status;
  return verify_hazards(program);
}

Digest code_digest(std::span<const std::byte> bytes) { return Hasher().bytes(bytes).finish(); }

}  // namespace tenon::program
