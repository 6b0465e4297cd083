#include "runtime/arena.h"

namespace tenon::runtime {

Result<Arena> Arena::make(const program::Program& program, const Variables& variables,
                          Memory& memory) {
  Arena arena;
  const program::ArenaPlan& plan = program.plan;
  for (const Dim& bytes : plan.stage_bytes) {
    Stage& stage = arena.stages_.emplace_back();
    stage.block = MemoryBlock(memory);
    stage.dims = DimTable(variables);
    stage.bytes = stage.dims.add(bytes);
  }
  const program::Stages stages(program);
  for (const program::ArenaBuffer& buffer : program.arena) {
    Position& position = arena.positions_.emplace_back();
    if (!buffer.view && buffer.slot < 0) continue;  // nobody needs it
    const auto slot = static_cast<size_t>(buffer.slot);
    position.stage = buffer.view ? stages.of(buffer.view->offset) : plan.slot_stages[slot];
    position.at = arena.stages_[static_cast<size_t>(position.stage)].dims.add(
        buffer.view ? buffer.view->offset : plan.slot_offsets[slot] + buffer.offset);
  }
  for (const Stage& stage : arena.stages_) {
    if (stage.dims.unknown_symbol().empty()) continue;
    return internal_error("[program] the arena depends on {}, which is not a symbol of any input",
                          stage.dims.unknown_symbol());
  }
  return arena;
}

Result<int64_t> Arena::measure(int index, std::span<const int64_t> variables) {
  Stage& stage = stages_[static_cast<size_t>(index)];
  if (!stage.dims.evaluate(variables)) {
    return user_error("the inputs' extents are too large to compute with");
  }
  bytes_ += stage.dims[stage.bytes] - stage.measured;
  stage.measured = stage.dims[stage.bytes];
  return stage.measured;
}

Status Arena::place(int index) {
  Stage& stage = stages_[static_cast<size_t>(index)];
  return stage.block.reserve(stage.measured, "the arena");
}

int64_t Arena::bytes_through(int stage) const {
  int64_t bytes = 0;
  for (int i = 0; i <= stage; ++i) bytes += stages_[static_cast<size_t>(i)].measured;
  return bytes;
}

void* Arena::at(int buffer) const {
  const Position& position = positions_[static_cast<size_t>(buffer)];
  const Stage& stage = stages_[static_cast<size_t>(position.stage)];
  return stage.block.data() + stage.dims[position.at];
}

int64_t Arena::view_offset(int buffer) const {
  const Position& view = positions_[static_cast<size_t>(buffer)];
  return stages_[static_cast<size_t>(view.stage)].dims[view.at];
}

}  // namespace tenon::runtime
