// What must hold for an access: conditions and masks of lanes.
#include <algorithm>

#include "base/error.h"
#include "codegen/llvm/emitter.h"

namespace tenon::codegen {

using kernel::kLaneCount;

Emitter::Value* Emitter::emit_guards(const std::vector<kernel::Guard>& guards) {
  Value* result = nullptr;
  for (const kernel::Guard& guard : guards) {
    Value* holds = emit_guard(guard.index, guard.bound);
    if (!holds) continue;
    if (result) unify(result, holds);
    result = result ? builder_.CreateAnd(result, holds) : holds;
  }
  return result;
}

// 0 <= index < bound; null where it always holds.
Emitter::Value* Emitter::emit_guard(const Dim& raw_index, const Dim& raw_bound) {
  const Dim index = known(raw_index);
  const Dim bound = known(raw_bound);
  // A negative index is a large unsigned one.
  const auto holds = [&](const Dim& at) {
    return builder_.CreateICmpULT(emit_dim(at), emit_dim(bound));
  };
  if (!is_lane_varying(index) && !is_lane_varying(bound)) return holds(index);
  if (!is_lane_step(index) || is_lane_varying(bound)) return emit_lane_guard(index, bound);
  const Dim first = at_lane(index, 0);
  const auto whole = [](const Dim& dim) { return mod(dim, kLaneCount).is_const(0); };
  if (whole(first) && whole(bound)) return holds(first);  // in all lanes or in none
  return emit_lane_mask(first, bound);
}

// Lane l holds where 0 <= first + l < bound. Made once, in the scope that knows both.
Emitter::Value* Emitter::emit_lane_mask(const Dim& first, const Dim& bound) {
  const size_t depth = std::max(depth_of(first), depth_of(bound));
  const auto key = std::make_pair(first, bound);
  if (const auto it = scopes_[depth].masks.find(key); it != scopes_[depth].masks.end())
    return it->second;
  // l < bound - first and l >= -first, both clamped to 0..kLaneCount so that 32 bits do.
  auto clamped = [&](const Dim& dim) {
    Value* x = emit_dim(dim);
    builder_.SetInsertPoint(scopes_[depth].entry->getTerminator());
    x = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, x, builder_.getInt64(kLaneCount));
    x = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, x, builder_.getInt64(0));
    return splat(builder_.CreateTrunc(x, builder_.getInt32Ty()));
  };
  llvm::IRBuilder<>::InsertPointGuard guard(builder_);
  Value* lanes = builder_.CreateStepVector(vector_type(builder_.getInt32Ty()));
  Value* mask = builder_.CreateICmpSLT(lanes, clamped(bound - first));
  if (first.bounds().lo < 0)
    mask = builder_.CreateAnd(mask, builder_.CreateICmpSGE(lanes, clamped(Dim(0) - first)));
  return scopes_[depth].masks[key] = mask;
}

}  // namespace tenon::codegen
