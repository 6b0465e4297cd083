// One lowering per kind of root: contractions, attention, norms, softmax, reductions, and
// elementwise for all others.
#include "lower/lower.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr int64_t kKeyBlock =
    64;  // keys per step of online softmax, anchored at key 0: part of the numerics class

Block append(Block a, Block b) {
  for (Stmt& s : b) a.push_back(std::move(s));
  return a;
}

std::vector<Dim> leading(const Shape& shape, int axes) {
  return {shape.dims().begin(), shape.dims().begin() + axes};
}

Index with(Index index, const Dim& last) {
  index.push_back(last);
  return index;
}

Lowered lower_elementwise(Region& region) {
  const Value root = region.root();
  Block body = region.loops(root.shape().dims(), [&](const Index& index) -> Block {
    Stmt s = region.store_result(index, region.at(root, index));
    return append(region.take_lets(), {s});
  });
  return region.finish(std::string(graph::info(root.op()).text), std::move(body));
}

// activation(x @ w + bias) + residual, also plain matmul with batches of w.
Lowered lower_contraction(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const bool linear = node.op() == graph::Op::Linear;
  const Value x = node.operand(0), w = node.operand(1);
  const int rank = root.shape().rank();
  const Dim depth = x.shape()[x.shape().rank() - 1];
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
    ExprRef value =
        reduce(Op::ReduceFma, k, depth,
               {region.at(x, x_index), region.at(w, broadcast_index(w.shape(), w_index)), f32(0)});
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

// Every load happens only where the guard holds, and is 0 elsewhere.
ExprRef guarded(const ExprRef& root, const Guard& guard) {
  return transform(root, [&](Expr& copy) -> ExprRef {
    if (copy.op == Op::Load) copy.guards.push_back(guard);
    return nullptr;
  });
}

// The row of an operand: loaded where it is stored, else computed once into a local.
struct Row {
  Block fill;
  std::function<ExprRef(const Dim&)> at;
};
Row stage_row(Region& region, Value x, const std::function<Index(const Dim&)>& index,
              const Dim& extent, bool stored) {
  if (stored) return {{}, [&region, x, index](const Dim& j) { return region.at(x, index(j)); }};
  const int row = region.local("row", x.dtype(), extent);
  const Symbol j = region.range("jr", extent);
  const ExprRef value = region.at(x, index(j));
  Block fill =
      append(region.take_lets(), {loop(LoopKind::Parallel, j, extent, {store(row, j, value)})});
  return {std::move(fill), [row, x](const Dim& at) { return load(row, x.dtype(), at); }};
}

Lowered lower_layer_norm(Region& region, bool stored) {
  const Value root = region.root();
  const Node& node = *root.node;
  const int rank = root.shape().rank();
  const Dim n = root.shape()[rank - 1];
  const double epsilon = node.attributes().number("epsilon");
  Block body = region.loops(leading(root.shape(), rank - 1), [&](const Index& rows) -> Block {
    Row x =
        stage_row(region, node.operand(0), [&](const Dim& j) { return with(rows, j); }, n, stored);
    const DType dtype = root.dtype();
    const int mean = region.local("mean", dtype, 1), scale = region.local("rstd", dtype, 1);
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

Lowered lower_softmax(Region& region) {
  const Value root = region.root();
  const Value x = root.node->operand(0);
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
    const DType dtype = root.dtype();
    const int row = region.local("row", dtype, n), most = region.local("max", dtype, 1),
              sum = region.local("sum", dtype, 1);
    const Symbol j0 = region.range("j0", n), j1 = region.range("j1", n), j2 = region.range("j2", n),
                 j3 = region.range("j3", n), j4 = region.range("j4", n);
    const ExprRef value = region.at(x, index(j0));
    Block block =
        append(region.take_lets(), {loop(LoopKind::Parallel, j0, n, {store(row, j0, value)})});
    block.push_back(store(most, 0, reduce(Op::ReduceMax, j1, n, {load(row, dtype, j1)})));
    const ExprRef e = pointwise(Op::Exp, {load(row, dtype, j2) - load(most, dtype, 0)});
    block.push_back(loop(LoopKind::Parallel, j2, n, {store(row, j2, e)}));
    block.push_back(store(sum, 0, reduce(Op::ReduceAdd, j3, n, {load(row, dtype, j3)})));
    const ExprRef y = load(row, dtype, j4) / load(sum, dtype, 0);
    block.push_back(loop(LoopKind::Parallel, j4, n, {region.store_result(index(j4), y)}));
    return block;
  });
  return region.finish("softmax", std::move(body));
}

// Reduced axes are one range, decoded into its axes.
Lowered lower_reduction(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const Value x = node.operand(0);
  Dim count = 1;
  for (const int64_t axis : node.attributes().integers("axes"))
    count = count * x.shape()[static_cast<int>(axis)];
  Block body = region.loops(root.shape().dims(), [&](const Index& kept) -> Block {
    const Symbol r = region.range("r", count);
    Index index = kept;
    Dim rest = r;
    const auto& axes = node.attributes().integers("axes");
    for (size_t i = axes.size(); i-- > 0;) {
      const Dim& extent = x.shape()[static_cast<int>(axes[i])];
      index[static_cast<size_t>(axes[i])] = i == 0 ? rest : mod(rest, extent);
      rest = floordiv(rest, extent);
    }
    ExprRef value = region.at(x, index);
    const DType dtype = root.dtype();
    switch (node.op()) {
      case graph::Op::ReduceSum:
        value = reduce(Op::ReduceAdd, r, count, {value});
        break;
      case graph::Op::ReduceMean:
        value = reduce(Op::ReduceAdd, r, count, {value}) / index_value(dtype, count);
        break;
      case graph::Op::ReduceMax:
        value = reduce(Op::ReduceMax, r, count, {value});
        break;
      default:
        value =
            pointwise(Op::Neg, {reduce(Op::ReduceMax, r, count, {pointwise(Op::Neg, {value})})});
    }
    return append(region.take_lets(), {region.store_result(kept, value)});
  });
  return region.finish(std::string(graph::info(node.op()).text), std::move(body));
}

// Online softmax over blocks of keys; what is carried from block to block is (max, sum, o).
Lowered lower_attention(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const auto& attributes = node.attributes();
  const int64_t heads = attributes.integer("heads"), kv_heads = attributes.integer("kv_heads"),
                width = attributes.integer("head_dim");
  const Value q = node.operand(0), k = node.operand(1), v = node.operand(2);
  const Dim batch = root.shape()[0], queries = root.shape()[1], keys = k.shape()[1];
  const Dim blocks = ceildiv(keys, kKeyBlock);
  const int64_t padded =
      (width + kLaneCount - 1) / kLaneCount * kLaneCount;  // columns of a tile fill vectors
  const DType f = DType::F32;
  Block body = region.loops({batch, heads, queries}, [&](const Index& at) -> Block {
    const Dim &b = at[0], &h = at[1], &i = at[2];
    const Dim kv_head = kv_heads == heads ? h : floordiv(h, heads / kv_heads);
    const int most = region.local("max", f, 1), sum = region.local("sum", f, 1),
              next = region.local("next", f, 1), base = region.local("base", f, 1),
              decay = region.local("decay", f, 1);
    const int s = region.local("s", f, kKeyBlock), o = region.local("o", f, padded),
              query = region.local("query", f, width);
    auto scalar = [&](int buffer) { return load(buffer, f, 0); };
    auto column = [&](const char* name, const Dim& extent) { return region.range(name, extent); };
    const Symbol block = column("kb", blocks);
    const Dim first = Dim(block) * kKeyBlock;

    Block step;
    {  // s = q k^T; keys past the end start, and stay, at -inf
      const Symbol c = column("c0", kKeyBlock), d = column("d0", width);
      const Guard inside = {first + c, keys};
      const ExprRef key = guarded(region.at(k, {b, first + c, kv_head * width + d}), inside);
      const ExprRef init = select(in_range(inside.index, inside.bound), f32(0), f32(-kInf));
      const ExprRef dot = reduce(Op::ReduceFma, d, width, {load(query, f, d), key, init});
      step.push_back(loop(LoopKind::Parallel, c, kKeyBlock, {store(s, c, dot)}));
    }
    auto score = [&](const Symbol& c) {
      const ExprRef plain = load(s, f, c);
      if (node.operand_count() <= 3) return plain;
      const Value mask = node.operand(3);
      const Index index = broadcast_index(mask.shape(), {b, h, i, first + c});
      return plain + guarded(region.at(mask, index), {first + c, keys});
    };
    const Symbol c2 = column("c2", kKeyBlock), c3 = column("c3", kKeyBlock),
                 c4 = column("c4", kKeyBlock);
    const ExprRef block_max = reduce(Op::ReduceMax, c2, kKeyBlock, {score(c2)});
    step.push_back(store(next, 0, pointwise(Op::Max, {scalar(most), block_max})));
    const ExprRef all_masked = pointwise(Op::Equal, {scalar(next), f32(-kInf)});
    step.push_back(store(base, 0, select(all_masked, f32(0), scalar(next))));
    step.push_back(store(decay, 0, pointwise(Op::Exp, {scalar(most) - scalar(base)})));
    step.push_back(store(most, 0, scalar(next)));
    const ExprRef p = pointwise(Op::Exp, {score(c3) - scalar(base)});
    step.push_back(loop(LoopKind::Parallel, c3, kKeyBlock, {store(s, c3, p)}));
    const ExprRef block_sum = reduce(Op::ReduceAdd, c4, kKeyBlock, {load(s, f, c4)});
    step.push_back(store(sum, 0, fma(scalar(sum), scalar(decay), block_sum)));
    {  // o = o * decay + p v
      const Symbol d = column("d1", padded), c = column("c5", min(keys - first, kKeyBlock));
      ExprRef value = region.at(v, {b, first + c, kv_head * width + d});
      if (padded != width) value = guarded(value, {d, width});
      const ExprRef dot = reduce(Op::ReduceFma, c, min(keys - first, kKeyBlock),
                                 {load(s, f, c), value, load(o, f, d) * scalar(decay)});
      step.push_back(loop(LoopKind::Parallel, d, padded, {store(o, d, dot)}));
    }

    // The query, scaled, is read once per key block: it is kept close.
    const Symbol d2 = column("d2", padded), d3 = column("d3", width), d4 = column("d4", width);
    const ExprRef scaled = region.at(q, {b, i, h * width + d4}) * f32(attributes.number("scale"));
    Block result = {loop(LoopKind::Parallel, d4, width, {store(query, d4, scaled)}),
                    store(most, 0, f32(-kInf)), store(sum, 0, f32(0)),
                    loop(LoopKind::Parallel, d2, padded, {store(o, d2, f32(0))}),
                    loop(LoopKind::Serial, block, blocks, std::move(step))};
    const ExprRef y =
        select(pointwise(Op::Equal, {scalar(sum), f32(0)}), f32(0), load(o, f, d3) / scalar(sum));
    result.push_back(
        loop(LoopKind::Parallel, d3, width, {region.store_result({b, i, h * width + d3}, y)}));
    return append(region.take_lets(), std::move(result));
  });
  region.kernel().flops = batch * queries * keys * (4 * heads * width);
  return region.finish("attention", std::move(body));
}

}  // namespace

Lowered lower(Value root, const fuse::Regions& regions, const Layout& layout) {
  Region region(root, regions, layout);
  switch (root.op()) {
    case graph::Op::Linear:
    case graph::Op::MatMul:
      return lower_contraction(region);
    case graph::Op::Attention:
      return lower_attention(region);
    case graph::Op::LayerNorm:
      return lower_layer_norm(region, regions.stored.contains(root.node->operand(0)));
    case graph::Op::Softmax:
      return lower_softmax(region);
    default:
      return graph::has(root.op(), graph::kReduction) ? lower_reduction(region)
                                                      : lower_elementwise(region);
  }
}

}  // namespace tenon::lower
