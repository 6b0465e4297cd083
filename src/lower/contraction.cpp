// Contractions: matmul with batches, the linear layer with bias, activation and residual as the
// epilogue of its one reduction, and the gated one, whose value has two; products of bytes with
// whatever elementwise work follows them.
#include <algorithm>

#include "fuse/integer_product.h"
#include "graph/activation.h"
#include "graph/linear_parts.h"
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

// Of weights it is a number, and so are their panels, whatever the other operand calls it.
Dim depth_of(Value x, Value w) {
  const Dim of_w = w.shape()[std::max(w.shape().rank() - 2, 0)];
  return of_w.is_const() ? of_w : x.shape()[x.shape().rank() - 1];
}

// The sum at an index of the result.
ExprRef product_at(Region& region, Value x, Value w, Index index, DType dtype) {
  const Dim depth = depth_of(x, w), j = index.back();
  const Symbol k = region.range("k", depth);
  index.pop_back();
  const Index rows = index;
  if (!index.empty()) index.pop_back();
  Index of_w = with(with(index, k), j);
  of_w.erase(of_w.begin(), of_w.end() - w.shape().rank());
  return reduce(Op::ReduceFma, k, depth,
                {region.at(x, broadcast_index(x.shape(), with(rows, k))),
                 region.at(w, broadcast_index(w.shape(), of_w)), constant(dtype, 0)});
}

// The product of bytes that a region computes on the way to its root; null: none.
const Node* product_inside(Value value, const fuse::Regions& regions, bool is_root = true) {
  if (!is_root && regions.stored.contains(value)) return nullptr;
  if (!is_root && fuse::is_integer_product(*value.node)) return value.node;
  if (!graph::has(value.op(), graph::kElementwise)) return nullptr;
  for (const Value& operand : value.node->operands()) {
    if (const Node* found = product_inside(operand, regions, false)) return found;
  }
  return nullptr;
}

}  // namespace

ExprRef matmul_element(Region& region, const Node& node, const Index& index) {
  return product_at(region, node.operand(0), node.operand(1), index,
                    computed_in(node.types()[0].dtype));
}

// activation(x @ w * row_scale + bias) + residual, also plain matmul with batches of w; gated:
// activation(x @ w * row_scale) * (x @ up * row_scale).
Lowered lower_contraction(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const graph::LinearParts parts = parts_of(node);
  const int rank = root.shape().rank();
  const DType dtype = computed_in(root.dtype());
  const Symbol j = region.range("j", root.shape()[rank - 1]);

  Block body = region.loops(leading(root.shape(), rank - 1), [&](const Index& rows) -> Block {
    const auto product = [&](Value right) {
      const ExprRef sum = product_at(region, parts.x, right, with(rows, j), dtype);
      return parts.row_scale ? sum * region.at(parts.row_scale, with(rows, 0)) : sum;
    };
    ExprRef value = product(parts.w);
    if (parts.bias) value = value + region.at(parts.bias, {j});
    value = activation(std::string(to_string(parts.activation)), value);
    if (parts.up) value = value * product(parts.up);
    if (parts.residual) value = value + region.at(parts.residual, with(rows, j));
    const Stmt s = region.store_result(with(rows, j), value);
    return append(region.take_lets(), {loop(LoopKind::Parallel, j, root.shape()[rank - 1], {s})});
  });
  const Dim depth = depth_of(parts.x, parts.w);
  region.kernel().flops = root.shape().elements() * depth * (parts.up ? 4 : 2);
  std::string name(graph::info(node.op()).text);
  if (parts.activation != graph::Activation::None)
    name += "_" + std::string(to_string(parts.activation));
  if (parts.residual) name += "_residual";
  return region.finish(name, std::move(body));
}

std::optional<Lowered> lower_product(Region& region, const fuse::Regions& regions) {
  const Value root = region.root();
  const Node* product = product_inside(root, regions);
  if (!product) return std::nullopt;
  const int rank = root.shape().rank();
  const Symbol j = region.range("j", root.shape()[rank - 1]);
  Block body = region.loops(leading(root.shape(), rank - 1), [&](const Index& rows) -> Block {
    const Index index = with(rows, j);
    const Stmt s = region.store_result(index, region.at(root, index));
    return append(region.take_lets(), {loop(LoopKind::Parallel, j, root.shape()[rank - 1], {s})});
  });
  const Dim depth = depth_of(product->operand(0), product->operand(1));
  region.kernel().flops = root.shape().elements() * depth * 2;
  return region.finish("product_" + std::string(graph::info(root.op()).text), std::move(body));
}

}  // namespace tenon::lower
