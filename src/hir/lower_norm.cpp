// Norms of the last axis, alone and of a sum.
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Value;

namespace {

// The norm of x; or of x + residual, and the sum.
Results norm_of(Lowering& to, Value x, Value residual, const auto& norm) {
  if (!residual) return {norm(x)};
  const Value sum = to.g.add(x, residual);
  return {norm(sum), sum};
}

}  // namespace

Results lower_block(Lowering& to, const RmsNorm& block) {
  return norm_of(to, to[block.x], to[block.residual],
                 [&](Value x) { return to.g.rms_norm(x, to[block.scale], block.epsilon); });
}

Results lower_block(Lowering& to, const LayerNorm& block) {
  return norm_of(to, to[block.x], to[block.residual], [&](Value x) {
    return to.g.layer_norm(x, to[block.scale], to[block.bias], block.epsilon);
  });
}

}  // namespace tenon::hir
