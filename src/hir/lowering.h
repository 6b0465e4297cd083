// Lowering: blocks become tensor ops, fused ones wherever there is one for what the block does.
// What a module is as primitives is the same graph with its fused ops written out, so blocks
// (lower_*.cpp) are written once for both policies.
#pragma once

#include <vector>

#include "graph/graph.h"
#include "hir/block.h"

namespace tenon::hir {

class Lowering {
 public:
  using Value = graph::Value;

  graph::Graph g;

  // The results of a block, which are the next values in order.
  std::vector<Value> add(const Block& block);
  Value operator[](const HirValue& value) const;  // none of none

  // Linears of one input, one for each: there is no op for them, the pass fuse_shared_input makes
  // them one.
  std::vector<Value> linears(Value x, const std::vector<LinearWeights>& weights,
                             ActivationKind activation);
  Value attention(Value q, Value k, Value v, const AttentionOptions& options);
  Dim past(const AttentionOptions& options) const;  // keys before those of this run
  // `first`: the position of the first row, where no positions are given.
  Value rotary(Value x, const RotaryOptions& options, const Dim& first = 0);

  Value number(double value, Value like) { return g.scalar(like.dtype(), value); }
  Value part(Value x, int axis, const Dim& start, const Dim& extent);  // of one axis
  Value positions(const Dim& first, const Dim& count);                 // i64: first, first + 1, ...

 private:
  std::vector<Value> values_;  // of the module, by index
};

// The activations of the public API are those of the tensor IR.
inline graph::Activation activation_of(ActivationKind kind) {
  static_assert(static_cast<int>(ActivationKind::Sigmoid) ==
                static_cast<int>(graph::Activation::Sigmoid));
  return static_cast<graph::Activation>(kind);
}

// What each block becomes.
using Results = std::vector<graph::Value>;
Results lower_block(Lowering& to, const Input& block);
Results lower_block(Lowering& to, const State& block);
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

// The graph with its fused ops written out, as far as matmul, softmax and elementwise ops.
graph::Graph as_primitives(const graph::Graph& graph);

}  // namespace tenon::hir
