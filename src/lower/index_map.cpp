// Elements of ops that are no kernel of their own: movement becomes an index map, elementwise work
// is written into its consumer.
#include <algorithm>

#include "base/error.h"
#include "lower/region.h"

namespace tenon::lower {

using namespace kernel;
using graph::Node;
using graph::Value;

namespace {

// The index into `shape` of the element at row-major position `linear`.
Index delinearize(const Dim& linear, const Shape& shape) {
  Index index(static_cast<size_t>(shape.rank()));
  Dim rest = linear;
  for (int axis = shape.rank(); axis-- > 0;) {
    const auto i = static_cast<size_t>(axis);
    if (axis == 0) {
      index[i] = rest;
    } else if (!shape[axis].is_const(1) && !shape[axis].is_const(0)) {  // 0: nothing is there
      index[i] = mod(rest, shape[axis]);
      rest = floordiv(rest, shape[axis]);
    }
  }
  return index;
}

// The element of an axis that lies at a position which may be outside.
Dim reflected(const Dim& at, const Dim& extent, const std::string& mode) {
  const Dim last = extent - 1;
  if (mode == "edge") return min(max(at, 0), last);
  if (mode == "wrap") return mod(at, max(extent, 1));
  const Dim place = mod(at, max(last * 2, 1));  // reflect: there and back again
  return min(place, last * 2 - place);
}

// The number of a scalar that the compiler knows.
std::optional<Dim> number_of(Value scalar) {
  const auto& known = scalar.shape_value();
  return known && known->size() == 1 ? std::optional<Dim>((*known)[0]) : std::nullopt;
}

}  // namespace

ExprRef Region::compute(Value value, const Index& index) {
  const Node& node = *value.node;
  const graph::Attributes& attributes = node.attributes();
  const auto axis_count = index.size();
  switch (node.op()) {
    case graph::Op::Constant:
      return load_stored(value, index);
    case graph::Op::Dims:
      return dims_leaf(node, index);
    case graph::Op::Define:
      return at(node.operand(0), index);
    case graph::Op::Reshape: {
      const Dim linear = dot(index, value.shape().strides());
      return at(node.operand(0), delinearize(linear, node.operand(0).shape()));
    }
    case graph::Op::Transpose: {
      Index source(axis_count);
      for (size_t i = 0; i < axis_count; ++i)
        source[static_cast<size_t>(attributes.integers("perm")[i])] = index[i];
      return at(node.operand(0), source);
    }
    case graph::Op::Expand:
      return at(node.operand(0),
                broadcast_index(node.operand(0).shape(), index, node.types()[0].shape));
    case graph::Op::Slice: {
      reads_part(node.operand(0), node);
      Index source(axis_count);
      for (size_t i = 0; i < axis_count; ++i) {
        source[i] = attributes.dims("starts")[i] + index[i] * attributes.integers("steps")[i];
      }
      return at(node.operand(0), source);
    }
    case graph::Op::Concat:
      return concat(node, index);
    case graph::Op::Pad:
      return pad(node, index);
    case graph::Op::Range:
      return positions(node, index);
    case graph::Op::Gather:
      return gather(node, index);
    case graph::Op::GatherElements:
      return gather_elements(node, index);
    case graph::Op::GatherND:
      return gather_nd(node, index);
    case graph::Op::TopK:
      return taken(node, index);
    case graph::Op::Conv:
    case graph::Op::ConvTranspose:
      return conv_element(*this, node, index);
    case graph::Op::MatMul:
      return matmul_element(*this, node, index);
    case graph::Op::RandomUniform:
    case graph::Op::RandomNormal:
      return random_op(node, dot(index, value.shape().strides()));
    case graph::Op::BitCast:
      return bit_cast_op(node, at(node.operand(0), index));
    default:
      if (graph::has(node.op(), graph::kReduction)) return reduction_element(*this, node, index);
      TENON_CHECK(graph::has(node.op(), graph::kElementwise),
                  "[{}] cannot be computed inside another kernel", graph::info(node.op()).text);
      return elementwise(node, index);
  }
}

ExprRef Region::elementwise(const Node& node, const Index& index) {
  std::vector<ExprRef> operands;
  for (const Value& operand : node.operands())
    operands.push_back(at(operand, broadcast_index(operand.shape(), index, node.types()[0].shape)));
  if (node.op() == graph::Op::Cast) return cast_op(node, operands[0]);
  return scalar_op(node.op(), std::move(operands));
}

// An element that exists only where the guards hold; loads and lets of it are masked off elsewhere.
ExprRef Region::within(const std::vector<Guard>& guards, Value value, const Index& index) {
  const size_t outer = guards_.size();
  guards_.insert(guards_.end(), guards.begin(), guards.end());
  ExprRef result = at(value, index);
  guards_.resize(outer);
  return result;
}

// The part that holds the index; loads of the others are masked off.
ExprRef Region::concat(const Node& node, const Index& index) {
  const auto axis = static_cast<size_t>(node.attributes().integer("axis"));
  ExprRef result;
  Dim start = 0;
  for (const Value& part : node.operands()) {
    const Dim extent = part.shape()[static_cast<int>(axis)];
    Index inside = index;
    inside[axis] = index[axis] - start;
    const Guard guard = {inside[axis], extent};
    const ExprRef value = within({guard}, part, inside);
    result = result ? select(in_range(guard.index, guard.bound), value, result) : value;
    start = start + extent;
  }
  return result;
}

ExprRef Region::pad(const Node& node, const Index& index) {
  const Value x = node.operand(0);
  const std::string& mode = node.attributes().text("mode");
  const std::vector<Dim>&pads = *node.operand(1).shape_value(),
        &axes = *node.operand(2).shape_value();
  Index source = index;
  std::vector<Guard> inside;
  for (size_t i = 0; i < axes.size(); ++i) {
    const int64_t given = axes[i].const_value();
    const auto axis = static_cast<size_t>(given < 0 ? given + x.shape().rank() : given);
    const Dim& extent = x.shape()[static_cast<int>(axis)];
    const Dim place = index[axis] - pads[i];
    const bool constant = mode == "constant";
    source[axis] = constant ? place : reflected(place, extent, mode);
    const bool all = pads[i].is_const(0) && pads[i + axes.size()].is_const(0);
    if (constant ? !all : extent.bounds().lo < 1) inside.push_back({source[axis], extent});
  }
  const ExprRef value = within(inside, x, source);
  if (mode != "constant" || inside.empty()) return value;
  ExprRef holds;
  for (const Guard& guard : inside) {
    const ExprRef here = in_range(guard.index, guard.bound);
    holds = holds ? pointwise(Op::And, {holds, here}) : here;
  }
  const bool given = node.operand_count() > 3;
  const ExprRef fill =
      given ? at(node.operand(3), Index(static_cast<size_t>(node.operand(3).shape().rank())))
            : constant(computed_in(x.dtype()), 0);
  return select(holds, value, fill);
}

// start + i * delta
ExprRef Region::positions(const Node& node, const Index& index) {
  const DType dtype = computed_in(node.types()[0].dtype);
  const auto start = number_of(node.operand(0)), delta = number_of(node.operand(2));
  if (start && delta) return index_value(dtype, *start + index[0] * *delta);
  const ExprRef first = at(node.operand(0), {}), step = at(node.operand(2), {});
  const ExprRef i = index_value(dtype, index[0]);
  return is_float(dtype) ? fma(i, step, first) : first + i * step;
}

ExprRef Region::dims_leaf(const Node& node, const Index& index) {
  const auto& values = node.attributes().dims("values");
  ExprRef result = index_value(node.types()[0].dtype, values[0]);
  if (!index.empty() && index[0].is_const()) {
    return index_value(node.types()[0].dtype, values[static_cast<size_t>(index[0].const_value())]);
  }
  for (size_t i = 1; i < values.size(); ++i) {
    result = select(in_range(index[0] - static_cast<int64_t>(i), 1),
                    index_value(node.types()[0].dtype, values[i]), result);
  }
  return result;
}

}  // namespace tenon::lower
