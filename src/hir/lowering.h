// Lowering: blocks become tensor ops. What one fused op can do is a member function here, and the
// only place that knows the policy: under Direct it is that op, under Fusable it is written out in
// the form that the passes of `fuse` find again. The blocks (lower_*.cpp) are written with these
// functions, once for both.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "hir/block.h"

namespace tenon::hir {

class Lowering {
 public:
  using Value = graph::Value;

  explicit Lowering(FusionPolicy policy) : policy_(policy) {}

  graph::Graph g;

  // The results of a block, which are the next values in order.
  std::vector<Value> add(const Block& block);
  Value operator[](const HirValue& value) const;  // none of none

  struct LinearParts {
    Value bias = {}, residual = {};
    ActivationKind activation = ActivationKind::None;
  };
  Value linear(Value x, Value w, const LinearParts& parts);
  // As shared_linears: one wide linear, cut; or one for each.
  std::vector<Value> linears(Value x, const std::vector<Value>& w, const std::vector<Value>& biases,
                             ActivationKind activation);
  Value gated(Value x, Value gate, Value up, ActivationKind activation);
  Value rms_norm(Value x, Value scale, double epsilon);
  Value layer_norm(Value x, Value scale, Value bias, double epsilon);
  Value rotary(Value x, Value cos, Value sin, int64_t heads, bool interleaved);
  // `mask` is added to the scores: masks and bias of the options are not looked at.
  Value attention(Value q, Value k, Value v, const AttentionOptions& options, Value mask);

  // Short forms.
  Value activation(ActivationKind kind, Value x);
  Value number(double value, Value like) { return g.scalar(like.dtype(), value); }
  Value part(Value x, int axis, const Dim& start, const Dim& extent);  // of one axis
  Value positions(const Dim& count);                                   // i64: 0, 1, ...

 private:
  bool direct() const { return policy_ == FusionPolicy::Direct; }

  FusionPolicy policy_;
  std::vector<Value> values_;  // of the module, by index
};

// What each block becomes.
using Results = std::vector<graph::Value>;
Results lower_block(Lowering& to, const Input& block);
Results lower_block(Lowering& to, const Param& block);
Results lower_block(Lowering& to, const Constant& block);
Results lower_block(Lowering& to, const TensorOp& block);
Results lower_block(Lowering& to, const Linear& block);
Results lower_block(Lowering& to, const SharedLinears& block);
Results lower_block(Lowering& to, const DequantizingLinear& block);
Results lower_block(Lowering& to, const SwiGlu& block);
Results lower_block(Lowering& to, const Moe& block);
Results lower_block(Lowering& to, const RmsNorm& block);
Results lower_block(Lowering& to, const LayerNorm& block);
Results lower_block(Lowering& to, const Attention& block);
Results lower_block(Lowering& to, const Rotary& block);
Results lower_block(Lowering& to, const EncoderBlock& block);
Results lower_block(Lowering& to, const DecoderBlock& block);

// Parts of blocks that other blocks are made of.
graph::Value attend(Lowering& to, graph::Value q, graph::Value k, graph::Value v,
                    AttentionOptions options);
graph::Value rotate(Lowering& to, graph::Value x, const RotaryOptions& options);

}  // namespace tenon::hir
