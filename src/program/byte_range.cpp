#include "program/program.h"

namespace tenon::program {
namespace {

// Steps write to a state beyond what counts before the run.
Dim bytes_of(const IoSlot& input) {
  if (!input.state) return input.type.bytes();
  Dim elements = 1;
  for (const Dim& capacity : input.capacity) elements = elements * capacity;
  return elements * size_of(input.type.dtype);
}

Dim bytes_of(const Program& program, const BufferRef& ref) {
  const auto index = static_cast<size_t>(ref.index);
  switch (ref.kind) {
    case BufferKind::Input:
      return bytes_of(program.inputs[index]);
    case BufferKind::Output:
      return program.outputs[index].type.bytes();
    case BufferKind::Param:
      return program.params[index].type.bytes();
    case BufferKind::Constant:
      return program.constants[index].type.bytes();
    case BufferKind::Packed:
      return program.packed[index].bytes;
    case BufferKind::Arena:
      return program.arena[index].bytes;
  }
  return 0;
}

}  // namespace

ByteRange byte_range(const Program& program, const BufferRef& ref) {
  const Dim bytes = bytes_of(program, ref);
  if (ref.kind == BufferKind::Arena) {
    if (const auto& view = program.arena[static_cast<size_t>(ref.index)].view)
      return {view->root, view->offset, view->offset + bytes};
  }
  return {ref, 0, bytes};
}

bool are_disjoint(const ByteRange& a, const ByteRange& b) {
  return a.root != b.root || prove_le(a.end, b.begin) == Proof::Yes ||
         prove_le(b.end, a.begin) == Proof::Yes;
}

}  // namespace tenon::program
