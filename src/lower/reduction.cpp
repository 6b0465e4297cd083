// Kernels that are one reduction: sums, products, extremes, and the place of an extreme. Reduced
// axes are one range, decoded into its axes.
#include <cmath>

#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

ExprRef is_nan(const ExprRef& x) { return pointwise(Op::Not, {pointwise(Op::Equal, {x, x})}); }

// Turns the order round: exact for every integer, signed or not, and its own inverse.
ExprRef flipped(const ExprRef& x) {
  const ExprRef negative = pointwise(Op::Neg, {x});
  return is_float(x->dtype) ? negative : negative - constant(x->dtype, 1);
}

// The largest or smallest element; NaN if one is NaN, as NumPy has it.
ExprRef extreme(const ExprRef& x, const Symbol& range, const Dim& extent, bool smallest) {
  auto flip = [&](const ExprRef& e) { return smallest ? flipped(e) : e; };
  ExprRef result = flip(reduce(Op::ReduceMax, range, extent, {flip(x)}));
  if (!is_float(x->dtype)) return result;
  const ExprRef zero = constant(x->dtype, 0), one = constant(x->dtype, 1);
  const ExprRef counted = select(pointwise(Op::Equal, {x, x}), zero, one);
  const ExprRef nans = reduce(Op::ReduceAdd, range, extent, {counted});
  return select(pointwise(Op::Less, {zero, nans}), constant(x->dtype, std::nan("")), result);
}

// Numbers without sign are in the order of their bits, and NaN is above all of them.
ExprRef largest_magnitude(const ExprRef& x, const Symbol& range, const Dim& extent) {
  return bit_cast(reduce(Op::ReduceMax, range, extent, {bit_cast(x, DType::I32)}), DType::F32);
}

// Flags are reduced as numbers.
ExprRef as_number(const ExprRef& x) { return x->dtype == DType::Bool ? cast(x, DType::I32) : x; }

ExprRef reduced(graph::Op op, const ExprRef& x, const Symbol& range, const Dim& count) {
  switch (op) {
    case graph::Op::ReduceMax:
    case graph::Op::ReduceMin:
      return extreme(x, range, count, op == graph::Op::ReduceMin);
    case graph::Op::ReduceProd:
      return reduce(Op::ReduceMul, range, count, {x});
    case graph::Op::ReduceMean:
      return reduce(Op::ReduceAdd, range, count, {x}) / index_value(x->dtype, count);
    default:
      return reduce(Op::ReduceAdd, range, count, {x});
  }
}

}  // namespace

ExprRef reduction_element(Region& region, const Node& node, const Index& kept) {
  const Value x = node.operand(0);
  const auto& axes = node.attributes().integers("axes");
  Dim count = 1;
  for (const int64_t axis : axes) count = count * x.shape()[static_cast<int>(axis)];
  const Symbol r = region.range("r", count);
  Index index = kept;
  Dim rest = r;
  for (size_t i = axes.size(); i-- > 0;) {
    const Dim& extent = x.shape()[static_cast<int>(axes[i])];
    if (extent.is_const(0)) continue;  // nothing is summed
    index[static_cast<size_t>(axes[i])] = i == 0 ? rest : mod(rest, extent);
    rest = floordiv(rest, extent);
  }
  const ExprRef element = as_number(region.at(x, index));
  const bool of_magnitudes = node.op() == graph::Op::ReduceMax && x.op() == graph::Op::Abs;
  if (of_magnitudes && x.dtype() == DType::F32 && count.bounds().lo > 0)
    return largest_magnitude(element, r, count);
  return reduced(node.op(), element, r, count);
}

Lowered lower_reduction(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  Block body = region.result_loops([&](const Index& kept) -> Block {
    const ExprRef value = reduction_element(region, node, kept);
    return append(region.take_lets(), {region.store_result(kept, value)});
  });
  return region.finish(std::string(graph::info(node.op()).text), std::move(body));
}

// First the extreme element, then the largest place (counted from the end for the first one) of
// those that are as good. A NaN is better than anything else.
Lowered lower_arg_reduction(Region& region) {
  const Value root = region.root();
  const Node& node = *root.node;
  const Value x = node.operand(0);
  const auto axis = static_cast<size_t>(node.attributes().integer("axis"));
  const Dim n = x.shape()[static_cast<int>(axis)];
  const bool last = node.attributes().integer("last", 0) != 0;
  Block body = region.loops(root.shape().dims(), [&](const Index& kept) -> Block {
    auto element = [&](const Dim& at) {
      Index index = kept;
      index[axis] = at;
      return as_number(region.at(x, index));
    };
    const Symbol r = region.range("r", n), p = region.range("p", n);
    const ExprRef value = element(r);
    const int best = region.local_scalar("best", value->dtype);
    const ExprRef found = load(best, value->dtype, 0), other = element(p);
    ExprRef good = pointwise(Op::Equal, {other, found});
    if (is_float(value->dtype))
      good = pointwise(Op::Or, {good, pointwise(Op::And, {is_nan(other), is_nan(found)})});
    const ExprRef place = index_value(DType::I64, last ? Dim(p) : n - 1 - p);
    const ExprRef most =
        reduce(Op::ReduceMax, p, n, {select(good, place, constant(DType::I64, -1))});
    return append(region.take_lets(),
                  {store(best, 0, extreme(value, r, n, node.op() == graph::Op::ArgMin)),
                   region.store_result(kept, last ? most : index_value(DType::I64, n - 1) - most)});
  });
  return region.finish(std::string(graph::info(node.op()).text), std::move(body));
}

}  // namespace tenon::lower
