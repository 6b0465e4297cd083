// A transposed convolution as a plain one. With stride s the result falls into s phases per axis;
// each is a convolution with every s-th tap, and all phases together are one convolution with s
// times the channels, whose results are then interleaved. Nothing is multiplied by the zeros that
// lie between the elements of a spread image. Stride 1 is the special case of one phase.
#include "legalize/sampling.h"

namespace tenon::legalize::decompositions {

using graph::Op;

namespace {

struct Axis {
  Dim image, extent, begin;
  int64_t kernel, stride;

  int64_t taps() const { return (kernel + stride - 1) / stride; }  // of a phase
  Dim windows() const { return image + taps() - 1; }
};

std::vector<Axis> axes_of(const Node& node, Value x, Value w) {
  const graph::Attributes& a = node.attributes();
  std::vector<Axis> axes;
  for (int i = 2; i < x.shape().rank(); ++i) {
    const auto k = static_cast<size_t>(i - 2);
    if (!w.shape()[i].is_const() || a.integers("dilations")[k] != 1) return {};
    axes.push_back({x.shape()[i], a.dims("extents")[k], a.dims("begins")[k],
                    w.shape()[i].const_value(), a.integers("strides")[k]});
    const Axis& axis = axes.back();
    const bool starts_inside = prove_le(0, axis.begin) == Proof::Yes;
    const Dim end = axis.begin + axis.extent;
    const bool ends_inside = prove_le(end, axis.windows() * axis.stride) == Proof::Yes;
    if (!starts_inside || !ends_inside) return {};
  }
  return axes;
}

// [in, out of a group, kernel...] as [out of all groups, phase..., in of a group, taps...], with
// the taps of each phase in reverse: the kernel of the plain convolution.
Value phase_weights(Graph& g, Value w, const std::vector<Axis>& axes, int64_t groups) {
  const Dim in = floordiv(w.shape()[0], groups), out = w.shape()[1];
  std::vector<Dim> split{groups, in, out};
  std::vector<int64_t> order{0, 2}, taps_order;
  Dim phases = 1;
  for (size_t i = 0; i < axes.size(); ++i) {
    const Axis& axis = axes[i];
    const auto at = static_cast<int>(i) + 2;
    const int64_t missing = axis.taps() * axis.stride - axis.kernel;
    if (missing > 0) {
      std::vector<Dim> zeros = w.shape().dims();
      zeros[static_cast<size_t>(at)] = missing;
      w = g.concat({w, g.expand(g.scalar(w.dtype(), 0), zeros)}, at);
    }
    split.emplace_back(axis.taps());
    split.emplace_back(axis.stride);
    taps_order.push_back(static_cast<int64_t>(3 + 2 * i));
    order.push_back(static_cast<int64_t>(4 + 2 * i));
    phases = phases * axis.stride;
  }
  w = g.reshape(w, split);
  std::vector<Dim> starts(split.size(), 0);
  std::vector<int64_t> steps(split.size(), 1);
  std::vector<Dim> shape{out * groups * phases, in};
  for (size_t i = 0; i < axes.size(); ++i) {
    starts[3 + 2 * i] = axes[i].taps() - 1;
    steps[3 + 2 * i] = -1;
    shape.emplace_back(axes[i].taps());
  }
  w = g.slice(w, starts, split, steps);
  order.push_back(1);
  order.insert(order.end(), taps_order.begin(), taps_order.end());
  return g.reshape(g.transpose(w, order), shape);
}

}  // namespace

std::vector<Value> conv_transpose(Graph& g, const Node& node, std::span<const Value> operands) {
  const Value x = operands[0];
  const std::vector<Axis> axes = axes_of(node, x, operands[1]);
  if (axes.empty()) return {};
  const int64_t groups = node.attributes().integer("groups");
  const Dim n = x.shape()[0], channels = node.types()[0].shape[1];
  std::vector<Dim> windows, pads, split{n, channels}, starts{0, 0}, whole{n, channels};
  std::vector<int64_t> order{0, 1}, phase_axes;
  const auto rank = static_cast<int64_t>(axes.size());
  for (int64_t i = 0; i < rank; ++i) {
    const Axis& axis = axes[static_cast<size_t>(i)];
    windows.push_back(axis.windows());
    pads.emplace_back(axis.taps() - 1);
    split.emplace_back(axis.stride);
    order.push_back(2 + rank + i);
    order.push_back(2 + i);
    whole.push_back(axis.windows() * axis.stride);
    starts.push_back(axis.begin);
  }
  const std::vector<int64_t> ones(axes.size(), 1);
  const Value y = g.apply(Op::Conv, {x, phase_weights(g, operands[1], axes, groups)},
                          {{"extents", windows},
                           {"begins", pads},
                           {"strides", ones},
                           {"dilations", ones},
                           {"groups", groups}});
  split.insert(split.end(), windows.begin(), windows.end());
  const Value interleaved = g.reshape(g.transpose(g.reshape(y, split), order), whole);
  const std::vector<Dim>& shape = node.types()[0].shape.dims();
  const Term result(g, g.slice(interleaved, starts, shape, std::vector<int64_t>(shape.size(), 1)));
  if (operands.size() < 3) return {result};
  return {result + Term(g, operands[2]).along(1, static_cast<int>(shape.size()))};
}

}  // namespace tenon::legalize::decompositions
