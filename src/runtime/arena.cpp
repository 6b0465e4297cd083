#include "runtime/arena.h"

namespace tenon::runtime {

Result<Arena> Arena::make(const program::Program& program, const Variables& variables,
                          Memory& memory) {
  Arena arena;
  arena.program_ = &program;
  const program::ArenaPlan& plan = program.plan;
  for (const Dim& bytes : plan.stage_bytes) {
    Stage& stage = arena.stages_.emplace_back();
    stage.block = MemoryBlock(memory);
    stage.dims = DimTable(variables);
    stage.bytes = stage.dims.add(bytes);
  }
  for (size_t slot = 0; slot < plan.slot_offsets.size(); ++slot) {
    Stage& stage = arena.stages_[static_cast<size_t>(plan.slot_stages[slot])];
    arena.offsets_.push_back(stage.dims.add(plan.slot_offsets[slot]));
  }
  const program::Stages stages(program);
  for (const program::ArenaBuffer& buffer : program.arena) {
    if (!buffer.view) {
      arena.views_.emplace_back();
      continue;
    }
    const int stage = stages.of(buffer.view->offset);
    DimTable& dims = arena.stages_[static_cast<size_t>(stage)].dims;
    arena.views_.push_back({stage, dims.add(buffer.view->offset)});
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
  const auto slot = static_cast<size_t>(program_->arena[static_cast<size_t>(buffer)].slot);
  const Stage& stage = stages_[static_cast<size_t>(program_->plan.slot_stages[slot])];
  return stage.block.data() + stage.dims[offsets_[slot]];
}

int64_t Arena::view_offset(int buffer) const {
  const Position& view = views_[static_cast<size_t>(buffer)];
  return stages_[static_cast<size_t>(view.stage)].dims[view.at];
}

}  // namespace tenon::runtime
