// See print.h. One line per symbol, slot, view and step, in the order of the Program. A step that
// runs with the one before it begins with "&".
#include "program/print.h"

#include <fmt/format.h>

#include <iterator>

namespace tenon::program {
namespace {

using Text = std::back_insert_iterator<std::string>;

void print_step(const Program& program, const Step& step, Text out) {
  fmt::format_to(out, "  {}{} grid {}", step.with_previous ? "& " : "",
                 program.code.empty() ? step.kind : program.code[step.code]->name,  // planned only
                 step.grid.to_string());
  for (size_t i = 0; i < step.buffers.size(); ++i) {
    fmt::format_to(out, "{} {}", step.writes[i] ? " ->" : ",", describe(program, step.buffers[i]));
  }
  for (const auto& [result, operand] : step.in_place) {
    const BufferRef &to = step.buffers[static_cast<size_t>(result)],
                    &from = step.buffers[static_cast<size_t>(operand)];
    if (root_of(program, to) == root_of(program, from))
      fmt::format_to(out, " in place of {}", describe(program, from));
  }
  if (!step.dims.empty()) fmt::format_to(out, " dims");
  for (const Dim& dim : step.dims) fmt::format_to(out, " {}", dim.to_string());
  if (!step.scratch_bytes.is_const(0))
    fmt::format_to(out, " scratch {}", step.scratch_bytes.to_string());
  fmt::format_to(out, " flops {}  # {} {}\n", step.flops.to_string(), step.kind, step.origin);
}

constexpr const char* kHostNames[] = {"define", "if", "loop", "custom"};

void print_host_step(const Program& program, const HostStep& step, Text out) {
  fmt::format_to(out, "  {}", kHostNames[static_cast<int>(step.kind)]);
  for (const auto& operand : step.operands)
    fmt::format_to(out, ", {}", describe(program, operand.buffer));
  for (const auto& result : step.results)
    fmt::format_to(out, " -> {}", describe(program, result.buffer));
  for (const Symbol& symbol : step.symbols) fmt::format_to(out, " {}", symbol.name());
  fmt::format_to(out, "  # {}\n", step.origin);
}

void print_memory(const Program& program, Text out) {
  fmt::format_to(out, "arena {} bytes, without sharing {}\n", program.plan.bytes.to_string(),
                 program.plan.unshared_bytes.to_string());
  std::vector<std::vector<size_t>> held(program.plan.slot_bytes.size());
  for (size_t i = 0; i < program.arena.size(); ++i) {
    const ArenaBuffer& buffer = program.arena[i];
    if (buffer.slot >= 0 && !buffer.view) held[static_cast<size_t>(buffer.slot)].push_back(i);
  }
  for (size_t slot = 0; slot < held.size(); ++slot) {
    fmt::format_to(out, "  slot {} of {} bytes holds", slot,
                   program.plan.slot_bytes[slot].to_string());
    for (const size_t buffer : held[slot]) {
      fmt::format_to(out, " {}", buffer);
      const Dim& offset = program.arena[buffer].offset;
      if (!offset.is_const(0)) fmt::format_to(out, " (at {})", offset.to_string());
    }
    fmt::format_to(out, "\n");
  }
  for (size_t i = 0; i < program.arena.size(); ++i) {
    const auto& view = program.arena[i].view;
    if (!view) continue;
    fmt::format_to(out, "  view {} of {} at byte {}\n", i, describe(program, view->root),
                   view->offset.to_string());
  }
}

}  // namespace

std::string describe(const Program& program, const BufferRef& ref) {
  switch (ref.kind) {
    case BufferKind::Input:
      return fmt::format("input {:?}", program.inputs[ref.index].name);
    case BufferKind::Output:
      return fmt::format("output {:?}", program.outputs[ref.index].name);
    case BufferKind::Param:
      return fmt::format("param {:?}", program.params[ref.index].name);
    case BufferKind::Constant:
      return fmt::format("constant {}", ref.index);
    case BufferKind::Packed:
      return fmt::format("packed {}", ref.index);
    case BufferKind::Arena:
      return fmt::format("arena {}", ref.index);
  }
  return "?";
}

std::string print(const Program& program) {
  std::string text;
  Text out(text);
  if (program.device == DeviceKind::Cuda)
    fmt::format_to(out, "for {} {}\n", name_of(program.device), program.cuda_arch);
  for (const IoSlot& slot : program.inputs) {
    fmt::format_to(out, "input {} {}", slot.name, slot.type.to_string());
    if (slot.state)
      fmt::format_to(out, " state of capacity {} along axis {}, then {} long", slot.state->capacity,
                     slot.state->axis, slot.state->length.to_string());
    fmt::format_to(out, "\n");
  }
  for (const IoSlot& slot : program.outputs)
    fmt::format_to(out, "output {} {}\n", slot.name, slot.type.to_string());
  for (const Constraint& constraint : program.constraints)
    fmt::format_to(out, "needs {}\n", constraint.to_string());
  print_memory(program, out);
  fmt::format_to(out, "prologue\n");
  for (const Step& step : program.prologue) print_step(program, step, out);
  fmt::format_to(out, "steps\n");
  size_t host = 0;
  for (size_t i = 0; i <= program.steps.size(); ++i) {
    while (host < program.host_steps.size() &&
           program.host_steps[host].before == static_cast<int>(i)) {
      print_host_step(program, program.host_steps[host++], out);
    }
    if (i < program.steps.size()) print_step(program, program.steps[i], out);
  }
  for (const HostStep& step : program.host_steps) {
    for (const auto& body : step.bodies) fmt::format_to(out, "body\n{}", print(*body));
  }
  return text;
}

}  // namespace tenon::program
