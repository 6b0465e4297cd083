// Rows of window ops: convolutions and pools over one to three spatial axes.
#include "tests/differential/rows/operands.h"

namespace tenon::differential {

using graph::Graph;
using graph::Op;
using graph::Value;

namespace {

// Where the windows lie, as the ops' attributes say it.
struct Windows {
  std::vector<Dim> extents, begins, ends;
  Axes kernel, strides, dilations;

  graph::Attributes attributes() const {
    return {
        {"extents", extents}, {"begins", begins}, {"strides", strides}, {"dilations", dilations}};
  }
};

int64_t span_of(const Windows& v, size_t i) { return v.dilations[i] * (v.kernel[i] - 1) + 1; }

Windows any_windows(GraphWriter& w, const Shape& image) {
  Windows v;
  for (int axis = 2; axis < image.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis - 2);
    v.kernel.push_back(w.number(1, 3));
    v.strides.push_back(w.number(1, 2));
    v.dilations.push_back(w.chance(80) ? 1 : 2);
    const int64_t pad = span_of(v, i) - 1;  // enough for every image of one element
    v.begins.emplace_back(w.chance(70) ? pad / 2 : w.number(0, pad));
    v.ends.emplace_back(w.chance(70) ? pad - pad / 2 : w.number(0, pad));
    const Dim room = image[axis] + v.begins[i] + v.ends[i] - span_of(v, i);
    v.extents.push_back(floordiv(room, v.strides[i]) + 1);
  }
  return v;
}

// [batch, channels, spatial axes]; channels are constant.
Value any_image(GraphWriter& w, DType dtype, int64_t channels) {
  std::vector<Dim> dims{w.any_extent(), channels};
  for (int64_t i = w.one_of(Axes{1, 2, 2, 2, 3}); i > 0; --i) dims.push_back(w.any_extent());
  return w.input(dtype, std::move(dims));
}

std::vector<Dim> with_kernel(std::vector<Dim> dims, const Axes& kernel) {
  dims.insert(dims.end(), kernel.begin(), kernel.end());
  return dims;
}

DType window_dtype(GraphWriter& w) {
  return w.one_of(std::vector<DType>{DType::F32, DType::F32, DType::F32, DType::F32, DType::F64,
                                     DType::F16, DType::BF16});
}

struct Channels {
  int64_t groups, in, out;  // each group's
};
Channels any_channels(GraphWriter& w) {
  return {w.one_of(Axes{1, 1, 1, 2, 3}), w.one_of(Axes{1, 2, 3, 8}), w.one_of(Axes{1, 2, 5, 16})};
}

Value convolution(GraphWriter& w) {
  const auto [groups, in, out] = any_channels(w);
  const DType dtype =
      w.chance(85) ? window_dtype(w) : w.one_of(std::vector<DType>{DType::I32, DType::I8});
  const Value x = any_image(w, dtype, groups * in);
  const Windows v = any_windows(w, x.shape());
  std::vector<Value> operands{x, w.weight(dtype, with_kernel({groups * out, in}, v.kernel))};
  if (w.chance(40)) operands.push_back(w.weight(dtype, {groups * out}));
  graph::Attributes attributes = v.attributes();
  attributes.set("groups", groups);
  return w.g().apply(Op::Conv, std::move(operands), std::move(attributes));
}

Value transposed_convolution(GraphWriter& w) {
  const auto [groups, in, out] = any_channels(w);
  const DType dtype = window_dtype(w);
  const Value x = any_image(w, dtype, groups * in);
  Windows v = any_windows(w, x.shape());
  for (size_t i = 0; i < v.extents.size(); ++i) {
    v.begins[i] = w.number(0, span_of(v, i) - 1);
    const Dim all = (x.shape()[static_cast<int>(i) + 2] - 1) * v.strides[i] + span_of(v, i);
    v.extents[i] = all - v.begins[i] + w.number(0, 1);
  }
  std::vector<Value> operands{x, w.weight(dtype, with_kernel({groups * in, out}, v.kernel))};
  if (w.chance(40)) operands.push_back(w.weight(dtype, {groups * out}));
  graph::Attributes attributes = v.attributes();
  attributes.set("groups", groups);
  return w.g().apply(Op::ConvTranspose, std::move(operands), std::move(attributes));
}

Value deformed_convolution(GraphWriter& w) {
  const DType dtype = w.chance(80) ? DType::F32 : DType::F64;
  const int64_t fields = w.number(1, 2), groups = w.number(1, 2);
  const int64_t channels = 2 * w.number(1, 2);
  const Dim batch = w.any_extent();
  const Value x = w.input(dtype, {batch, channels, w.any_extent(), w.any_extent()});
  Windows v = any_windows(w, x.shape());
  const int64_t taps = v.kernel[0] * v.kernel[1];
  const auto field = [&](int64_t rows) {
    return bounded(w, w.input(dtype, {batch, rows, v.extents[0], v.extents[1]}));
  };
  const Value weights = w.weight(dtype, with_kernel({groups * 2, channels / groups}, v.kernel));
  return w.g().apply(Op::DeformConv, {x, weights, field(fields * taps * 2), field(fields * taps)},
                     {{"begins", v.begins},
                      {"strides", v.strides},
                      {"dilations", v.dilations},
                      {"groups", groups},
                      {"offset_groups", fields}});
}

Value columns_to_image(GraphWriter& w) {
  const DType dtype = w.one_of(std::vector<DType>{DType::F32, DType::F64, DType::I32});
  const Axes image{w.number(3, 6), w.number(3, 6)};
  const Shape shape{w.any_extent(), w.number(1, 3), image[0], image[1]};
  const Windows v = any_windows(w, shape);
  const Dim positions = v.extents[0] * v.extents[1];
  const Value x = w.input(dtype, {shape[0], shape[1] * (v.kernel[0] * v.kernel[1]), positions});
  const Axes pads{v.begins[0].const_value(), v.begins[1].const_value(), v.ends[0].const_value(),
                  v.ends[1].const_value()};
  return w.g().apply(Op::Col2Im, {x, w.g().integers(image), w.g().integers(v.kernel)},
                     {{"shape", shape.dims()},
                      {"pads", pads},
                      {"strides", v.strides},
                      {"dilations", v.dilations}});
}

// Of an image that is there, or a new one; a pool's channels may be anything.
Value pool_operand(GraphWriter& w, const std::function<bool(DType)>& wanted) {
  if (w.chance(50)) return w.any_of_rank(static_cast<int>(w.number(3, 5)), wanted);
  const DType dtype = window_dtype(w);
  return wanted(dtype) ? any_image(w, dtype, w.number(1, 4)) : Value();
}

Value largest_of_windows(GraphWriter& w) {
  const Value x = pool_operand(w, no_bool);
  if (!x || x.dtype() == DType::U64) return {};
  const Windows v = any_windows(w, x.shape());
  graph::Attributes attributes = v.attributes();
  attributes.set("kernel", v.kernel);
  attributes.set("column_major", w.number(0, 1));
  return w.g().apply_all(Op::MaxPool, {x},
                         std::move(attributes))[w.chance(80) || !w.is_exact(x) ? 0 : 1];
}

Value mean_of_windows(GraphWriter& w) {
  const Value x = pool_operand(w, real);
  if (!x) return x;
  const Windows v = any_windows(w, x.shape());
  graph::Attributes attributes = v.attributes();
  attributes.set("kernel", v.kernel);
  if (w.chance(50)) attributes.set("ends", v.ends);
  return w.g().apply(Op::AveragePool, {x}, std::move(attributes));
}

Value norm_of_windows(GraphWriter& w) {
  const Value x = pool_operand(w, real);
  if (!x) return x;
  const Windows v = any_windows(w, x.shape());
  graph::Attributes attributes = v.attributes();
  attributes.set("kernel", v.kernel);
  attributes.set("p", static_cast<double>(w.number(1, 3)));
  return w.g().apply(Op::LpPool, {x}, std::move(attributes));
}

// Back to where the largest came from.
Value unpooled(GraphWriter& w) {
  const Value x = any_image(w, DType::F32, w.number(1, 3));
  const Windows v = any_windows(w, x.shape());
  graph::Attributes attributes = v.attributes();
  attributes.set("kernel", v.kernel);
  attributes.set("column_major", int64_t{0});
  const std::vector<Value> pooled = w.g().apply_all(Op::MaxPool, {x}, std::move(attributes));
  const std::vector<Dim> inner = x.shape().dims();
  std::vector<Dim> outer = inner;
  if (w.chance(40)) outer.back() = outer.back() + w.number(0, 2);
  std::vector<Value> operands = pooled;
  if (w.chance(30)) {
    operands.push_back(run_time_vector(w, outer));
    for (Dim& extent : outer) extent = w.fresh_symbol("unpooled");
  }
  return w.g().apply(Op::MaxUnpool, std::move(operands), {{"inner", inner}, {"shape", outer}});
}

constexpr OpRow kRows[] = {
    {"conv", 4, convolution},
    {"conv_transpose", 2, transposed_convolution},
    {"deform_conv", 1, deformed_convolution},
    {"col2im", 1, columns_to_image},
    {"max_pool", 2, largest_of_windows},
    {"average_pool", 2, mean_of_windows},
    {"lp_pool", 1, norm_of_windows},
    {"max_unpool", 1, unpooled},
};

}  // namespace

std::span<const OpRow> window_rows() { return kRows; }

}  // namespace tenon::differential
