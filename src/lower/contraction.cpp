// Contractions: matmul with batches, the linear layer with bias, activation and residual as the
// epilogue of its one reduction, and the gated one, whose value has two.
#include <algorithm>

#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

// What the attributes of a contraction say; those of a plain matmul say nothing.
struct Epilogue {
  explicit Epilogue(const Node& node) : gated(node.op() == graph::Op::GatedLinear) {
    if (node.op() == graph::Op::MatMul) return;
    const auto& attributes = node.attributes();
    int next = gated ? 3 : 2;
    const auto optional = [&](const char* name) {
      return attributes.integer(name, 0) != 0 ? node.operand(next++) : Value{};
    };
    bias = optional("bias");
    residual = optional("residual");
    row_scale = optional("row_scale");
    activation = attributes.text("activation");
  }

  bool gated;
  Value bias = {}, residual = {}, row_scale = {};
  std::string activation = "none";
};

}  // namespace

// activation(x @ w * row_scale + bias) + residual, also plain matmul with batches of w; gated:
// activation(x @ w * row_scale) * (x @ up * row_scale).
Lowered lower_contraction(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const Epilogue epilogue(node);
  const Value x = node.operand(0), w = node.operand(1);
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
      return epilogue.row_scale ? sum * region.at(epilogue.row_scale, with(rows, 0)) : sum;
    };
    ExprRef value = product(w);
    if (epilogue.bias) value = value + region.at(epilogue.bias, {j});
    value = activation(epilogue.activation, value);
    if (epilogue.gated) value = value * product(node.operand(2));
    if (epilogue.residual) value = value + region.at(epilogue.residual, with(rows, j));
    const Stmt s = region.store_result(with(rows, j), value);
    return append(region.take_lets(), {loop(LoopKind::Parallel, j, root.shape()[rank - 1], {s})});
  });
  region.kernel().flops = root.shape().elements() * depth * (epilogue.gated ? 4 : 2);
  std::string name(graph::info(node.op()).text);
  if (epilogue.activation != "none") name += "_" + epilogue.activation;
  if (epilogue.residual) name += "_residual";
  return region.finish(name, std::move(body));
}

}  // namespace tenon::lower
