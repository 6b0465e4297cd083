// Norms of the last axis, alone and of a sum.
#include "hir/lowering.h"

namespace tenon::hir {

using graph::Op;
using graph::Value;

namespace {

// sqrt(mean(x^2) + epsilon)
Value deviation(Lowering& to, Value x, double epsilon) {
  const Value mean = to.g.reduce(Op::ReduceMean, to.g.mul(x, x), {x.shape().rank() - 1});
  return to.g.unary(Op::Sqrt, to.g.add(mean, to.number(epsilon, x)));
}

// The norm of x, or of x + residual, with the sum.
Results norm_of(Lowering& to, Value x, Value residual, const auto& norm) {
  if (!residual) return {norm(x)};
  const Value sum = to.g.add(x, residual);
  return {norm(sum), sum};
}

}  // namespace

Value Lowering::rms_norm(Value x, Value scale, double epsilon) {
  return g.mul(g.div(x, deviation(*this, x, epsilon)), scale);
}

Value Lowering::layer_norm(Value x, Value scale, Value bias, double epsilon) {
  if (direct()) return g.layer_norm(x, scale, bias, epsilon);
  const Value centred = g.sub(x, g.reduce(Op::ReduceMean, x, {x.shape().rank() - 1}));
  return g.add(g.mul(g.div(centred, deviation(*this, centred, epsilon)), scale), bias);
}

Results lower_block(Lowering& to, const RmsNorm& block) {
  return norm_of(to, to[block.x], to[block.residual],
                 [&](Value x) { return to.rms_norm(x, to[block.scale], block.epsilon); });
}

Results lower_block(Lowering& to, const LayerNorm& block) {
  return norm_of(to, to[block.x], to[block.residual], [&](Value x) {
    return to.layer_norm(x, to[block.scale], to[block.bias], block.epsilon);
  });
}

}  // namespace tenon::hir
