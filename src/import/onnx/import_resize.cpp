// Importers of ops that sample an image: resize and its older forms, grids. Scales and sizes may be
// known, or data of the run; only what is data becomes a new symbol.
#include <algorithm>
#include <cmath>

#include "import/onnx/ops/spatial.h"
#include "import/onnx/window_attributes.h"

namespace tenon::onnx::importers {
namespace {

// The elements of a constant float vector.
std::optional<std::vector<double>> constant_floats(const graph::Graph& g, Value value) {
  std::span<const std::byte> bytes = value.node->bytes();
  if (value.op() == Op::Param) {
    const graph::Data* data = g.param_data(value.node->name());
    if (data) bytes = data->bytes;
  } else if (value.op() != Op::Constant) {
    return {};
  }
  const auto size = static_cast<size_t>(size_of(value.dtype()));
  std::vector<double> values;
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    values.push_back(load_as_f64(value.dtype(), bytes.data() + at));
  }
  if (prove_equal(value.shape().elements(), static_cast<int64_t>(values.size())) != Proof::Yes)
    return {};
  return values;
}

// extent * scale, rounded down as f32 has it. A symbolic extent needs a scale like 2, 1.5 or 0.25,
// for which f32 is exact.
std::optional<Dim> scaled_extent(const Dim& extent, double scale) {
  if (extent.is_const()) {
    const float product = static_cast<float>(extent.const_value()) * static_cast<float>(scale);
    if (!(product >= 0 && product < 0x1p40f))
      throw user_error("the scale {} is not possible", scale);
    return Dim(static_cast<int64_t>(product));
  }
  constexpr int64_t kDenominator = 64;
  const double numerator = scale * kDenominator;
  if (numerator != std::floor(numerator) || !(numerator > 0 && numerator < 0x1p14)) return {};
  return floordiv(extent * static_cast<int64_t>(numerator), kDenominator);
}

// One scale for all axes, where everything is known.
std::optional<std::vector<Dim>> kept_aspect(const std::vector<Dim>& in,
                                            const std::vector<Dim>& sizes, bool not_larger) {
  double scale = not_larger ? INFINITY : 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (!in[i].is_const() || !sizes[i].is_const() || in[i].is_const(0)) return {};
    const double own =
        static_cast<double>(sizes[i].const_value()) / static_cast<double>(in[i].const_value());
    scale = not_larger ? std::min(scale, own) : std::max(scale, own);
  }
  std::vector<Dim> result;
  for (const Dim& extent : in) {
    result.emplace_back(int64_t{std::llround(scale * static_cast<double>(extent.const_value()))});
  }
  return result;
}

std::vector<Dim> sized_shape(Call& call, Value x, const std::vector<int64_t>& order, Value sizes,
                             std::string_view policy) {
  std::vector<Dim> shape = x.shape().dims(), in;
  for (const int64_t axis : order) in.push_back(shape[static_cast<size_t>(axis)]);
  std::optional<std::vector<Dim>> known = shape_value(sizes);
  if (known && known->size() != order.size()) {
    throw user_error("{} sizes for {} axes", known->size(), order.size());
  }
  if (known && policy != "stretch") known = kept_aspect(in, *known, policy == "not_larger");
  if (!known) known = fresh_extents(call, "resize", order.size());
  for (size_t i = 0; i < order.size(); ++i) shape[static_cast<size_t>(order[i])] = (*known)[i];
  return shape;
}

std::vector<Dim> scaled_shape(Call& call, Value x, const std::vector<int64_t>& order,
                              Value scales) {
  std::vector<Dim> shape = x.shape().dims();
  const auto known = constant_floats(call.g, scales);
  if (known && known->size() != order.size()) {
    throw user_error("{} scales for {} axes", known->size(), order.size());
  }
  for (size_t i = 0; i < order.size(); ++i) {
    Dim& extent = shape[static_cast<size_t>(order[i])];
    const auto scaled = known ? scaled_extent(extent, (*known)[i]) : std::nullopt;
    extent = scaled ? *scaled : fresh_extent(call, "resize");
  }
  return shape;
}

std::vector<int64_t> all_axes(Value x) {
  std::vector<int64_t> axes;
  for (int i = 0; i < x.shape().rank(); ++i) axes.push_back(i);
  return axes;
}

std::string mode_of(Call& call) {
  const std::string mode(call.text("mode", "nearest"));
  return mode == "bilinear" ? "linear" : mode;
}

// What the op was before it knew coordinate transforms.
Value upsampled(Call& call, Value scales) {
  Value x = call.in(0);
  const std::vector<int64_t> order = all_axes(x);
  return call.g.apply(Op::Resize, {x, scales},
                      {{"shape", scaled_shape(call, x, order, scales)},
                       {"order", order},
                       {"mode", mode_of(call)},
                       {"coordinates", "asymmetric"},
                       {"rounding", "floor"},
                       {"policy", "stretch"},
                       {"cubic", -0.75},
                       {"outside", 0.0},
                       {"exclude_outside", int64_t{0}},
                       {"antialias", int64_t{0}}});
}

bool is_given(Value value) { return value && !value.shape().elements().is_const(0); }

}  // namespace

Results upsample(Call& call) {
  if (Value scales = call.maybe(1)) return {upsampled(call, scales)};
  const AttributeProto* a = call.find("scales");
  if (!a || a->floats.empty()) throw user_error("it has no scales");
  auto bytes = std::make_shared<std::vector<std::byte>>(a->floats.size() * sizeof(float));
  std::copy_n(reinterpret_cast<const std::byte*>(a->floats.data()), bytes->size(), bytes->data());
  const auto count = static_cast<int64_t>(a->floats.size());
  return {
      upsampled(call, call.leaf({{{count}, DType::F32}, {*bytes, bytes}}, call.output_name(0)))};
}

Results resize(Call& call) {
  if (call.opset() < 11) return {upsampled(call, call.in(1))};
  Value x = call.in(0), region = call.maybe(1), scales = call.maybe(2), sizes = call.maybe(3);
  const std::string coordinates(call.text("coordinate_transformation_mode", "half_pixel"));
  const std::string policy(call.text("keep_aspect_ratio_policy", "stretch"));
  std::vector<int64_t> order = call.integers("axes").value_or(all_axes(x));
  for (int64_t& axis : order) axis = Call::axis_of(axis, x.shape().rank());
  if (is_given(scales) == is_given(sizes)) throw user_error("it needs scales or sizes");
  std::vector<Value> operands{x, is_given(scales) ? scales : sizes};
  if (coordinates == "tf_crop_and_resize") {
    if (!is_given(region)) throw user_error("it has no roi");
    operands.push_back(region);
  }
  const std::vector<Dim> shape = is_given(scales) ? scaled_shape(call, x, order, scales)
                                                  : sized_shape(call, x, order, sizes, policy);
  return {call.g.apply(Op::Resize, std::move(operands),
                       {{"shape", shape},
                        {"order", order},
                        {"mode", mode_of(call)},
                        {"coordinates", coordinates},
                        {"rounding", std::string(call.text("nearest_mode", "round_prefer_floor"))},
                        {"policy", policy},
                        {"cubic", call.number("cubic_coeff_a", -0.75)},
                        {"outside", call.number("extrapolation_value", 0)},
                        {"exclude_outside", int64_t{call.flag("exclude_outside", false) ? 1 : 0}},
                        {"antialias", int64_t{call.flag("antialias", false) ? 1 : 0}}})};
}

Results grid_sample(Call& call) {
  std::string mode(call.text("mode", "linear"));
  if (mode.starts_with("bi")) mode = mode.substr(2);
  return {call.g.apply(Op::GridSample, {call.in(0), call.in(1)},
                       {{"mode", mode},
                        {"padding", std::string(call.text("padding_mode", "zeros"))},
                        {"align_corners", int64_t{call.flag("align_corners", false) ? 1 : 0}}})};
}

Results affine_grid(Call& call) {
  Value theta = call.in(0), size = call.in(1);
  if (theta.shape().rank() != 3 || !theta.shape()[1].is_const()) {
    throw user_error("theta is {}", theta.type().to_string());
  }
  const int64_t rank = theta.shape()[1].const_value();
  std::vector<Dim> shape{theta.shape()[0]};
  const auto known = shape_value(size);
  if (known && std::ssize(*known) != rank + 2)
    throw user_error("size has {} entries", known->size());
  for (int64_t i = 0; i < rank; ++i) {
    shape.push_back(known ? (*known)[static_cast<size_t>(i + 2)] : fresh_extent(call, "grid"));
  }
  shape.emplace_back(rank);
  return {call.g.apply(
      Op::AffineGrid, {theta, size},
      {{"shape", shape}, {"align_corners", int64_t{call.flag("align_corners", false) ? 1 : 0}}})};
}

}  // namespace tenon::onnx::importers
