// Windows whose taps are no fixed pattern: columns summed back into an image, and convolution with
// taps that data move. Pools of any norm too.
#include "legalize/sampling.h"

namespace tenon::legalize::decompositions {

using graph::Op;

// Sums and sums of squares have kernels; any other norm is a sum of powers.
std::vector<Value> lp_pool(Graph& g, const Node& node, std::span<const Value> operands) {
  const double p = node.attributes().number("p");
  if (p == 1 || p == 2) return {};
  const Value x = operands[0];
  graph::Attributes attributes = node.attributes();
  attributes.set("p", 1.0);
  const Value powers = g.binary(Op::Pow, g.unary(Op::Abs, x), g.scalar(x.dtype(), p));
  const Value sums = g.apply(Op::LpPool, {powers}, std::move(attributes));
  return {g.binary(Op::Pow, sums, g.scalar(x.dtype(), 1 / p))};
}

// One axis at a time: an element of the image is the sum over taps of the columns that have that
// tap there. Taps and windows of an axis are one axis, which is gathered.
std::vector<Value> col2im(Graph& g, const Node& node, std::span<const Value> operands) {
  const graph::Attributes& a = node.attributes();
  const std::vector<Dim>& shape = a.dims("shape");
  const std::vector<int64_t>&pads = a.integers("pads"), &strides = a.integers("strides"),
        &dilations = a.integers("dilations");
  const size_t rank = strides.size();
  const std::vector<Dim> image(shape.begin() + 2, shape.end());
  const Term blocks = integers_of(g, operands[2]);
  const auto& known = operands[2].shape_value();
  const std::vector<Dim> kernel = known ? *known : define(g, blocks, "block", int64_t{1} << 24);
  define_own(g, integers_of(g, operands[1]), image);
  const Dim columns = operands[0].shape()[1];
  define_own(g, (number(g, columns) / larger(product_of(blocks), 1)).reshape({1}), {shape[1]});
  std::vector<Dim> split{shape[0], shape[1]}, windows;
  std::vector<int64_t> order{0, 1};
  for (size_t i = 0; i < rank; ++i) {
    const Dim room = image[i] + pads[i] + pads[rank + i] - (kernel[i] - 1) * dilations[i] - 1;
    windows.push_back(max(floordiv(room, strides[i]) + 1, 0));
    order.push_back(static_cast<int64_t>(2 + i));
    order.push_back(static_cast<int64_t>(2 + rank + i));
  }
  split = joined(joined(split, kernel), windows);
  std::vector<Dim> current{shape[0], shape[1]};
  for (size_t i = 0; i < rank; ++i) current.push_back(kernel[i] * windows[i]);
  Term x(g, g.reshape(g.transpose(g.reshape(operands[0], split), order), current));
  for (size_t i = 0; i < rank; ++i) {
    const auto axis = static_cast<int64_t>(i) + 2;
    const Term tap(g, iota(g, kernel[i]));
    const Term steps =
        Term(g, iota(g, image[i])).reshape({image[i], 1}) + pads[i] - tap * dilations[i];
    const Term window = larger(steps, 0) / strides[i];
    const Term meets = both(both(!less(steps, 0), less(window, windows[i])),
                            equal(window * strides[i], larger(steps, 0)));
    const Term place = tap * windows[i] + clamped(window, 0, max(windows[i] - 1, 0));
    std::vector<Dim> share(rank + 3, 1);
    share[i + 2] = image[i];
    share[i + 3] = kernel[i];
    const Term found(g, g.gather(x, place, axis));
    current[i + 2] = image[i];
    x = choose(meets.reshape(share), found, 0).reduce(Op::ReduceSum, axis + 1).reshape(current);
  }
  return {x};
}

// The taps of each window, read between elements, are the columns of a matrix product.
std::vector<Value> deform_conv(Graph& g, const Node& node, std::span<const Value> operands) {
  const graph::Attributes& a = node.attributes();
  const Value x = operands[0], w = operands[1];
  const Dim n = x.shape()[0], channels = x.shape()[1], out = w.shape()[0];
  const int64_t groups = a.integer("groups"), offset_groups = a.integer("offset_groups");
  const std::vector<Dim> image = spatial_dims(x), kernel = spatial_dims(w),
                         result = spatial_dims(operands[2]);
  const auto rank = static_cast<int>(image.size());
  const Dim taps = product(kernel), positions = product(result);
  const Dim images = n * offset_groups, all = taps * positions;
  // Offsets: [image, tap, axis, position].
  const Term offsets = Term(g, g.reshape(operands[2], {images, taps, rank, positions}));
  std::vector<std::vector<Tap>> near;
  for (int i = 0; i < rank; ++i) {
    const auto k = static_cast<size_t>(i);
    const Term moved(g, g.slice(offsets, {0, 0, i, 0}, {images, taps, 1, positions}, {1, 1, 1, 1}));
    const Term tap = reals(g, kernel[k]) * static_cast<double>(a.integers("dilations")[k]);
    const Term place = reals(g, result[k]) * static_cast<double>(a.integers("strides")[k]);
    const Term taps_there(g, g.expand(tap.along(i, rank), kernel));
    const Term places(g, g.expand(place.along(i, rank), result));
    const Term at = taps_there.reshape({1, taps, 1}) + places.reshape({1, 1, positions}) -
                    a.dims("begins")[k] + moved.as(DType::F64).reshape({images, taps, positions});
    near.push_back(linear_taps(at.reshape({images, all})));
  }
  const Dim own = floordiv(channels, offset_groups);
  const Term grouped(g, g.reshape(x, joined({images, own}, image)));
  const Term mask = Term(g, g.reshape(operands[3], {images, 1, all}));
  const Term columns = interpolated(grouped, near) * mask.as(working_dtype(x.dtype()));
  const Dim depth = floordiv(channels, groups) * taps, rows = floordiv(out, groups);
  const Value right = columns.reshape({n, groups, depth, positions});
  const Term left = Term(g, g.reshape(w, {groups, rows, depth})).as(columns.dtype());
  const Term y(g, g.matmul(left, right));
  return {y.as(x.dtype()).reshape(joined({n, out}, result))};
}

}  // namespace tenon::legalize::decompositions
