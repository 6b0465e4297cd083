// Contractions: matmul with batches, the linear layer with bias, activation and residual as the
// epilogue of its one reduction, and the gated one, whose value has two.
#include <algorithm>

#include "graph/activation.h"
#include "graph/linear_parts.h"
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

// activation(x @ w * row_scale + bias) + residual, also plain matmul with batches of w; gated:
// activation(x @ w * row_scale) * (x @ up * row_scale).
Lowered lower_contraction(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const graph::LinearParts parts = parts_of(node);
  const Value x = parts.x, w = parts.w;
  const int rank = root.shape().rank();
  const DType dtype = computed_in(root.dtype());
  // Of weights it is a number, and so are their panels, whatever the other operand calls it.
  const Dim of_w = w.shape()[std::max(w.shape().rank() - 2, 0)];
  const Dim depth = of_w.is_const() ? of_w : x.shape()[x.shape().rank() - 1];
  const Symbol k = region.range("k", depth), j = region.range("j", root.shape()[rank - 1]);

  Block body = region.loops(leading(root.shape(), rank - 1), [&](const Index& rows) -> Block {
    const Index batch(rows.begin(), rows.end() - (rank >= 2 ? 1 : 0));
    const Index x_index = broadcast_index(x.shape(), with(rows, k));
    const auto product = [&](Value right) {
      Index index = with(with(batch, k), j);
      index.erase(index.begin(), index.end() - right.shape().rank());
      ExprRef sum =
          reduce(Op::ReduceFma, k, depth,
                 {region.at(x, x_index), region.at(right, broadcast_index(right.shape(), index)),
                  constant(dtype, 0)});
      return parts.row_scale ? sum * region.at(parts.row_scale, with(rows, 0)) : sum;
    };
    ExprRef value = product(w);
    if (parts.bias) value = value + region.at(parts.bias, {j});
    value = activation(std::string(to_string(parts.activation)), value);
    if (parts.up) value = value * product(parts.up);
    if (parts.residual) value = value + region.at(parts.residual, with(rows, j));
    const Stmt s = region.store_result(with(rows, j), value);
    return append(region.take_lets(), {loop(LoopKind::Parallel, j, root.shape()[rank - 1], {s})});
  });
  region.kernel().flops = root.shape().elements() * depth * (parts.up ? 4 : 2);
  std::string name(graph::info(node.op()).text);
  if (parts.activation != graph::Activation::None)
    name += "_" + std::string(to_string(parts.activation));
  if (parts.residual) name += "_residual";
  return region.finish(name, std::move(body));
}

}  // namespace tenon::lower
