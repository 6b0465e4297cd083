// Contractions: matmul with batches, and the linear layer with bias, activation and residual as the
// epilogue of its one reduction.
#include <algorithm>

#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

// activation(x @ w + bias) + residual, also plain matmul with batches of w.
Lowered lower_contraction(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const bool linear = node.op() == graph::Op::Linear;
  const Value x = node.operand(0), w = node.operand(1);
  const int rank = root.shape().rank();
  const DType dtype = computed_in(root.dtype());
  // Of weights it is a number, and so are their panels, whatever the other operand calls it.
  const Dim of_w = w.shape()[std::max(w.shape().rank() - 2, 0)];
  const Dim depth = of_w.is_const() ? of_w : x.shape()[x.shape().rank() - 1];
  const Symbol k = region.range("k", depth), j = region.range("j", root.shape()[rank - 1]);
  const auto& attributes = node.attributes();
  const bool has_bias = linear && attributes.integer("bias", 0) != 0;
  const bool has_residual = linear && attributes.integer("residual", 0) != 0;
  const std::string act = linear ? attributes.text("activation") : "none";

  Block body = region.loops(leading(root.shape(), rank - 1), [&](const Index& rows) -> Block {
    const Index batch(rows.begin(), rows.end() - (rank >= 2 ? 1 : 0));
    const Index x_index = broadcast_index(x.shape(), with(rows, k));
    Index w_index = with(with(batch, k), j);
    w_index.erase(w_index.begin(), w_index.end() - w.shape().rank());
    ExprRef value = reduce(Op::ReduceFma, k, depth,
                           {region.at(x, x_index),
                            region.at(w, broadcast_index(w.shape(), w_index)), constant(dtype, 0)});
    int next = 2;
    if (has_bias) value = value + region.at(node.operand(next++), {j});
    value = activation(act, value);
    if (has_residual) value = value + region.at(node.operand(next), with(rows, j));
    const Stmt s = region.store_result(with(rows, j), value);
    return append(region.take_lets(), {loop(LoopKind::Parallel, j, root.shape()[rank - 1], {s})});
  });
  region.kernel().flops = root.shape().elements() * depth * 2;
  std::string name(graph::info(node.op()).text);
  if (act != "none") name += "_" + act;
  if (has_residual) name += "_residual";
  return region.finish(name, std::move(body));
}

}  // namespace tenon::lower
