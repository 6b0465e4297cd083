// Importers of convolutions. Those of narrow integers are convolutions in i32 of what is left after
// the zero points are taken off: padding is then 0 as it is for floats.
#include "import/onnx/activations.h"
#include "import/onnx/compute.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/ops/spatial.h"
#include "import/onnx/quantized.h"
#include "import/onnx/run_time_shapes.h"
#include "import/onnx/window_attributes.h"

namespace tenon::onnx::importers {
namespace {

graph::Attributes conv_attributes(Call& call, const WindowAttributes& w) {
  graph::Attributes attributes = w.common();
  attributes.set("groups", call.integer("group", 1));
  return attributes;
}

// As i32, less the zero point: one for all, or one for each kernel.
Value centered(Call& call, Value stored, Value zero) {
  return without_zero(call, stored,
                      zero ? spread_parameter(call, zero, stored, {.axis = 0}) : zero);
}

Value conv_of(Call& call, Value x, Value w, Value bias) {
  const WindowAttributes windows = window_attributes(call, x, kernel_of(call, w), false);
  std::vector<Value> operands{x, w};
  if (bias) operands.push_back(bias);
  return call.g.apply(Op::Conv, std::move(operands), conv_attributes(call, windows));
}

// Scales are in f64: the i32 sums fit it exactly.
Results qlinear_conv_of(Call& call, bool last) {
  Value stored = last ? channels_first(call, call.in(0)) : call.in(0);
  Value x = centered(call, stored, call.in(2)), w = centered(call, call.in(3), call.in(5));
  Value sums = call.g.cast(conv_of(call, x, w, call.maybe(8)), DType::F64);
  const auto scale = [&](int i) {
    return spread_parameter(call, as(call, call.in(i), DType::F64), x);
  };
  Value factor = call.g.div(call.g.mul(scale(1), scale(4)), scale(6));
  Value zero = call.g.reshape(call.in(7), {});
  Value y = quantized(call, call.g.mul(sums, factor), {.dtype = zero.dtype(), .zero = zero});
  return {last ? channels_last(call, y) : y};
}

}  // namespace

Results conv(Call& call) { return {conv_of(call, call.in(0), call.in(1), call.maybe(2))}; }

// A residual, where there is one, is added before the activation.
Results fused_conv(Call& call) {
  Value y = conv_of(call, call.in(0), call.in(1), call.maybe(2));
  if (Value residual = call.maybe(3)) y = call.g.add(y, residual);
  return {activated_by_list(call, y)};
}

// The kernels have their channels last too.
Results nhwc_conv(Call& call) {
  Value w = channels_first(call, call.in(1));
  return {channels_last(call, conv_of(call, channels_first(call, call.in(0)), w, call.maybe(2)))};
}

// The kernels are those of Conv; images and the residual have their channels last.
Results nhwc_fused_conv(Call& call) {
  Value y = conv_of(call, channels_first(call, call.in(0)), call.in(1), call.maybe(2));
  y = channels_last(call, y);
  if (Value residual = call.maybe(3)) y = call.g.add(y, residual);
  return {activated_by_list(call, y)};
}

Results conv_transpose(Call& call) {
  Value x = call.in(0), w = call.in(1);
  const WindowAttributes windows = transposed_window_attributes(call, x, kernel_of(call, w));
  std::vector<Value> operands{x, w};
  if (Value bias = call.maybe(2)) operands.push_back(bias);
  return {call.g.apply(Op::ConvTranspose, std::move(operands), conv_attributes(call, windows))};
}

Results conv_integer(Call& call) {
  Value x = centered(call, call.in(0), call.maybe(2));
  return {conv_of(call, x, centered(call, call.in(1), call.maybe(3)), {})};
}

Results qlinear_conv(Call& call) { return qlinear_conv_of(call, false); }

Results fused_qlinear_conv(Call& call) {
  return qlinear_conv_of(call, call.flag("channels_last", false));
}

Results deform_conv(Call& call) {
  Value x = call.in(0), w = call.in(1), offsets = call.in(2), mask = call.maybe(4);
  const WindowAttributes windows = window_attributes(call, x, kernel_of(call, w), false);
  const int64_t groups = call.integer("offset_group", 1);
  if (offsets.shape().rank() != x.shape().rank()) {
    throw user_error("offsets {} for {}", offsets.type().to_string(), x.type().to_string());
  }
  if (!mask) {
    std::vector<Dim> dims = offsets.shape().dims();
    dims.at(1) = groups;
    for (const Dim& extent : windows.kernel) dims[1] = dims[1] * extent;
    mask = filled(call, x.dtype(), 1, std::move(dims));
  }
  graph::Attributes attributes{{"begins", windows.begins},
                               {"strides", windows.strides},
                               {"dilations", windows.dilations},
                               {"groups", call.integer("group", 1)},
                               {"offset_groups", groups}};
  Value y = call.g.apply(Op::DeformConv, {x, w, offsets, mask}, std::move(attributes));
  if (Value bias = call.maybe(3)) y = call.g.add(y, per_channel(call, bias, x.shape().rank()));
  return {y};
}

namespace {

// y[n, c, t] = sum over k of x[n, c, t + k] * w[c, 0, k], where the channels are no number.
Value depthwise(Call& call, Value x, Value w, const Dim& extent) {
  graph::Graph& g = call.g;
  const Dim n = x.shape()[0], channels = x.shape()[1], taps = w.shape()[2];
  g.add_constraint(
      {Constraint::Kind::Equal, w.shape()[0], channels, "[conv] channels and kernels"});
  g.add_constraint({Constraint::Kind::Equal, w.shape()[1], 1, "[conv] channels of a kernel"});
  Value at = g.add(g.reshape(iota(g, extent), {extent, 1}), iota(g, taps));
  Value windows = g.gather(x, at, 2);
  Value products = g.mul(windows, g.reshape(w, {1, channels, 1, taps}));
  return g.reshape(g.reduce(Op::ReduceSum, products, {3}), {n, channels, extent});
}

Value causal_conv(Call& call, Value x, Value w, Value bias, const Dim& extent) {
  if (!x.shape()[1].is_const()) {
    Value y = depthwise(call, x, w, extent);
    return bias ? call.g.add(y, per_channel(call, bias, 3)) : y;
  }
  std::vector<Value> operands{x, w};
  if (bias) operands.push_back(bias);
  return call.g.apply(Op::Conv, std::move(operands),
                      {{"extents", std::vector<Dim>{extent}},
                       {"begins", std::vector<Dim>{0}},
                       {"strides", std::vector<int64_t>{1}},
                       {"dilations", std::vector<int64_t>{1}},
                       {"groups", x.shape()[1].const_value()}});
}

}  // namespace

// A depthwise convolution over what came before and the input; what came before is also the state
// of the next call.
Results causal_conv_with_state(Call& call) {
  Value x = call.in(0), w = call.in(1), bias = call.maybe(2), past = call.maybe(3);
  const Shape& shape = x.shape();
  if (shape.rank() != 3 || w.shape().rank() != 3) {
    throw user_error("{} and {} are no signal and kernel", x.type().to_string(),
                     w.type().to_string());
  }
  const Dim kernel = w.shape()[2];
  if (!past) past = filled(call, x.dtype(), 0, {shape[0], shape[1], kernel - 1});
  Value all = call.g.concat({past, x}, 2);
  if (bias) bias = widened(call, bias);
  Value y = causal_conv(call, widened(call, all), widened(call, w), bias, shape[2]);
  const std::string_view activation = call.text("activation", "none");
  if (activation == "silu" || activation == "swish") {
    y = call.g.unary(Op::Silu, y);
  } else if (activation != "none" && !activation.empty()) {
    throw user_error("attribute 'activation' must not be '{}'", activation);
  }
  Value state = call.g.slice(all, {0, 0, shape[2]}, {shape[0], shape[1], kernel - 1}, {1, 1, 1});
  return {as(call, y, x.dtype()), state};
}

// ONNX Runtime's form has more to it than the standard's: that is read here, and refused.
Results fused_causal_conv_with_state(Call& call) {
  const std::pair<std::string_view, int64_t> known[] = {
      {"ndim", 1}, {"dilation", 1}, {"channels_last", 0}, {"state_window", 0}};
  for (const auto& [name, value] : known) {
    if (call.integer(name, value) != value) throw unsupported_error("{} must be {}", name, value);
  }
  return causal_conv_with_state(call);
}

Results col2im(Call& call) {
  Value x = call.in(0), image = call.in(1), block = call.in(2);
  if (x.shape().rank() != 3 || !image.shape().elements().is_const()) {
    throw unsupported_error("{} are no columns of a known number of axes", x.type().to_string());
  }
  const auto rank = static_cast<size_t>(image.shape().elements().const_value());
  const auto blocks = shape_value(block), extents = shape_value(image);
  std::vector<Dim> shape{x.shape()[0]};
  shape.push_back(blocks ? quotient({x.shape()[1]}, *blocks) : fresh_extent(call, "channels"));
  const std::vector<Dim> spatial = extents ? *extents : fresh_extents(call, "image", rank);
  shape.insert(shape.end(), spatial.begin(), spatial.end());
  return {call.g.apply(Op::Col2Im, {x, image, block},
                       {{"shape", shape},
                        {"pads", axis_numbers(call, "pads", 2 * rank, 0)},
                        {"strides", axis_numbers(call, "strides", rank, 1)},
                        {"dilations", axis_numbers(call, "dilations", rank, 1)}})};
}

}  // namespace tenon::onnx::importers
