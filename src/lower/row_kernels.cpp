// Kernels that reduce rows: norms, softmax, and quantization by what a row holds. Each reduction
// has a range of its own; a row that is not in memory is computed once into a local.
#include <cmath>

#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

// The row of an operand: loaded where it is stored, else computed once into a local.
struct Row {
  Block fill;
  std::function<ExprRef(const Dim&)> at;
  int local = -1;  // the buffer, if it is one
};
Row stage_row(Region& region, Value x, const std::function<Index(const Dim&)>& index,
              const Dim& extent, bool stored) {
  if (stored) return {{}, [&region, x, index](const Dim& j) { return region.at(x, index(j)); }, -1};
  const DType dtype = computed_in(x.dtype());
  const int row = region.local_row("row", dtype, extent);
  const Symbol j = region.range("jr", extent);
  const ExprRef value = region.at(x, index(j));
  Block fill =
      append(region.take_lets(), {loop(LoopKind::Parallel, j, extent, {store(row, j, value)})});
  return {std::move(fill), [row, dtype](const Dim& at) { return load(row, dtype, at); }, row};
}

}  // namespace

Lowered lower_layer_norm(Region& region, bool stored) {
  const Value root = region.root();
  const Node& node = *root.node;
  const int rank = root.shape().rank();
  const Dim n = root.shape()[rank - 1];
  const double epsilon = node.attributes().number("epsilon");
  Block body = region.loops(leading(root.shape(), rank - 1), [&](const Index& rows) -> Block {
    Row x =
        stage_row(region, node.operand(0), [&](const Dim& j) { return with(rows, j); }, n, stored);
    const DType dtype = computed_in(root.dtype());
    const int mean = region.local_scalar("mean", dtype), scale = region.local_scalar("rstd", dtype);
    auto scalar = [&](int buffer) { return load(buffer, dtype, 0); };
    const ExprRef count = index_value(dtype, n);
    const Symbol j1 = region.range("j1", n), j2 = region.range("j2", n), j3 = region.range("j3", n);
    const ExprRef centred = x.at(j2) - scalar(mean);
    Block block = std::move(x.fill);
    block.push_back(store(mean, 0, reduce(Op::ReduceAdd, j1, n, {x.at(j1)}) / count));
    const ExprRef variance = reduce(Op::ReduceAdd, j2, n, {centred * centred}) / count;
    block.push_back(store(
        scale, 0, constant(dtype, 1) / pointwise(Op::Sqrt, {variance + constant(dtype, epsilon)})));
    const ExprRef normal = (x.at(j3) - scalar(mean)) * scalar(scale);
    const ExprRef y =
        fma(normal, region.at(node.operand(1), {j3}), region.at(node.operand(2), {j3}));
    block.push_back(loop(LoopKind::Parallel, j3, n, {region.store_result(with(rows, j3), y)}));
    return append(region.take_lets(), std::move(block));
  });
  return region.finish("layer_norm", std::move(body));
}

Lowered lower_rms_norm(Region& region, bool stored) {
  const Value root = region.root();
  const Node& node = *root.node;
  const int rank = root.shape().rank();
  const Dim n = root.shape()[rank - 1];
  const DType dtype = computed_in(root.dtype());
  const ExprRef epsilon = constant(dtype, node.attributes().number("epsilon"));
  Block body = region.loops(leading(root.shape(), rank - 1), [&](const Index& rows) -> Block {
    Row x =
        stage_row(region, node.operand(0), [&](const Dim& j) { return with(rows, j); }, n, stored);
    const int factor = region.local_scalar("factor", dtype);
    const Symbol j1 = region.range("j1", n), j2 = region.range("j2", n);
    const ExprRef squares = reduce(Op::ReduceAdd, j1, n, {x.at(j1) * x.at(j1)});
    const ExprRef root_mean = pointwise(Op::Sqrt, {squares / index_value(dtype, n) + epsilon});
    Block block = std::move(x.fill);
    block.push_back(store(factor, 0, constant(dtype, 1) / root_mean));
    const ExprRef y = x.at(j2) * load(factor, dtype, 0) * region.at(node.operand(1), {j2});
    block.push_back(loop(LoopKind::Parallel, j2, n, {region.store_result(with(rows, j2), y)}));
    return append(region.take_lets(), std::move(block));
  });
  return region.finish("rms_norm", std::move(body));
}

Lowered lower_softmax(Region& region, bool stored) {
  const Value root = region.root();
  const auto axis = static_cast<int>(root.node->attributes().integer("axis"));
  const Dim n = root.shape()[axis];
  std::vector<Dim> others = root.shape().dims();
  others.erase(others.begin() + axis);
  Block body = region.loops(others, [&](const Index& rows) -> Block {
    auto index = [&, rows](const Dim& j) {
      Index full = rows;
      full.insert(full.begin() + axis, j);
      return full;
    };
    const DType dtype = computed_in(root.dtype());
    const bool in_place = stored && axis + 1 == root.shape().rank();
    Row x = stage_row(region, root.node->operand(0), index, n, in_place);
    const int row = x.local >= 0 ? x.local : region.local_row("exp", dtype, n);
    const int most = region.local_scalar("max", dtype), share = region.local_scalar("share", dtype);
    const Symbol j1 = region.range("j1", n), j2 = region.range("j2", n), j3 = region.range("j3", n),
                 j4 = region.range("j4", n);
    Block block = std::move(x.fill);
    block.push_back(store(most, 0, reduce(Op::ReduceMax, j1, n, {x.at(j1)})));
    const ExprRef e = pointwise(Op::Exp, {x.at(j2) - load(most, dtype, 0)});
    block.push_back(loop(LoopKind::Parallel, j2, n, {store(row, j2, e)}));
    const ExprRef sum = reduce(Op::ReduceAdd, j3, n, {load(row, dtype, j3)});
    block.push_back(store(share, 0, constant(dtype, 1) / sum));
    const ExprRef y = load(row, dtype, j4) * load(share, dtype, 0);
    block.push_back(loop(LoopKind::Parallel, j4, n, {region.store_result(index(j4), y)}));
    return append(region.take_lets(), std::move(block));
  });
  return region.finish("softmax", std::move(body));
}

Lowered lower_with_row_scale(Region& region, Value scale) {
  const Value root = region.root();
  const int rank = root.shape().rank();
  const Dim n = root.shape()[rank - 1];
  const DType dtype = computed_in(scale.dtype());
  Block body = region.loops(leading(root.shape(), rank - 1), [&](const Index& rows) -> Block {
    const int local = region.local_scalar("scale", dtype);
    const ExprRef known = load(local, dtype, 0);
    const Symbol j = region.range("j", n);
    Block block = {store(local, 0, region.compute(scale, with(rows, 0))),
                   region.store_value(scale, with(rows, 0), known)};
    region.set_known(scale, known);
    const Index index = with(rows, j);
    block.push_back(
        loop(LoopKind::Parallel, j, n, {region.store_result(index, region.at(root, index))}));
    return append(region.take_lets(), std::move(block));
  });
  return region.finish("quantize_rows", std::move(body));
}

}  // namespace tenon::lower
