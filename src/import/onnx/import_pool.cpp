// Importers of pools, over windows, whole images and regions.
#include "import/onnx/compute.h"
#include "import/onnx/ops/microsoft.h"
#include "import/onnx/ops/spatial.h"
#include "import/onnx/quantized.h"
#include "import/onnx/window_attributes.h"

namespace tenon::onnx::importers {
namespace {

std::vector<int64_t> kernel_shape(Call& call) {
  const auto kernel = call.integers("kernel_shape");
  if (!kernel) throw user_error("attribute 'kernel_shape' is missing");
  return *kernel;
}

WindowAttributes pool_windows(Call& call, Value x) {
  const std::vector<int64_t> kernel = kernel_shape(call);
  return window_attributes(call, x, {kernel.begin(), kernel.end()}, call.flag("ceil_mode", false));
}

graph::Attributes pool_attributes(Call& call, const WindowAttributes& w) {
  graph::Attributes attributes = w.common();
  attributes.set("kernel", kernel_shape(call));
  return attributes;
}

graph::Attributes max_pool_attributes(Call& call, Value x) {
  graph::Attributes attributes = pool_attributes(call, pool_windows(call, x));
  attributes.set("column_major", int64_t{call.flag("storage_order", false) ? 1 : 0});
  return attributes;
}

Value average_pool_of(Call& call, Value x) {
  const WindowAttributes windows = pool_windows(call, x);
  graph::Attributes attributes = pool_attributes(call, windows);
  if (call.flag("count_include_pad", false)) attributes.set("ends", windows.ends);
  return call.g.apply(Op::AveragePool, {x}, std::move(attributes));
}

std::vector<int64_t> spatial_axes(Value x) {
  std::vector<int64_t> axes;
  for (int i = 2; i < x.shape().rank(); ++i) axes.push_back(i);
  if (axes.empty()) throw user_error("{} is no image", x.type().to_string());
  return axes;
}

// An integer, or a float in the oldest opset.
double norm_order(Call& call) {
  const AttributeProto* p = call.find("p");
  if (p && p->kind == AttributeKind::Float) return call.number("p", 2);
  return static_cast<double>(call.integer("p", 2));
}

}  // namespace

Results max_pool(Call& call) {
  return call.g.apply_all(Op::MaxPool, {call.in(0)}, max_pool_attributes(call, call.in(0)));
}

Results nhwc_max_pool(Call& call) {
  Value x = channels_first(call, call.in(0));
  const auto all = call.g.apply_all(Op::MaxPool, {x}, max_pool_attributes(call, x));
  return {channels_last(call, all[0])};
}

Results average_pool(Call& call) { return {average_pool_of(call, call.in(0))}; }

Results qlinear_average_pool(Call& call) {
  const bool last = call.flag("channels_last", false);
  Value x = real_operand(call, 0);
  Value y = average_pool_of(call, last ? channels_first(call, x) : x);
  return stored_result(call, last ? channels_last(call, y) : y, 3, call.in(0).dtype());
}

Results lp_pool(Call& call) {
  graph::Attributes attributes = pool_attributes(call, pool_windows(call, call.in(0)));
  attributes.set("p", norm_order(call));
  return {call.g.apply(Op::LpPool, {call.in(0)}, std::move(attributes))};
}

Results global_average_pool(Call& call) {
  return {call.g.reduce(Op::ReduceMean, call.in(0), spatial_axes(call.in(0)))};
}

Results global_max_pool(Call& call) {
  return {call.g.reduce(Op::ReduceMax, call.in(0), spatial_axes(call.in(0)))};
}

Results global_lp_pool(Call& call) {
  graph::Graph& g = call.g;
  Value x = widened(call, call.in(0));
  const double p = norm_order(call);
  Value powers = g.binary(Op::Pow, g.unary(Op::Abs, x), g.scalar(x.dtype(), p));
  Value sums = g.reduce(Op::ReduceSum, powers, spatial_axes(x));
  return {as(call, g.binary(Op::Pow, sums, g.scalar(x.dtype(), 1 / p)), call.in(0).dtype())};
}

Results max_unpool(Call& call) {
  Value x = call.in(0), target = call.maybe(2);
  const std::vector<int64_t> kernel = kernel_shape(call);
  const WindowAttributes windows =
      transposed_window_attributes(call, x, {kernel.begin(), kernel.end()});
  std::vector<Dim> inner{x.shape()[0], x.shape()[1]};
  inner.insert(inner.end(), windows.extents.begin(), windows.extents.end());
  std::vector<Value> operands{x, call.in(1)};
  std::vector<Dim> shape = inner;
  if (target) {
    const auto known = shape_value(target);
    shape = known ? *known : fresh_extents(call, "unpool", inner.size());
    if (!known) operands.push_back(target);
  }
  return {call.g.apply(Op::MaxUnpool, std::move(operands), {{"inner", inner}, {"shape", shape}})};
}

Results max_roi_pool(Call& call) {
  const auto extents = call.integers("pooled_shape");
  if (!extents) throw user_error("attribute 'pooled_shape' is missing");
  return {call.g.apply(Op::RoiPool, {call.in(0), call.in(1)},
                       {{"extents", *extents}, {"scale", call.number("spatial_scale", 1)}})};
}

// Before opset 16 coordinates had no half-pixel shift.
Results roi_align(Call& call) {
  const std::string_view mode = call.text("coordinate_transformation_mode",
                                          call.opset() < 16 ? "output_half_pixel" : "half_pixel");
  if (mode != "half_pixel" && mode != "output_half_pixel") {
    throw user_error("coordinate_transformation_mode must not be '{}'", mode);
  }
  const std::vector<int64_t> extents{call.integer("output_height", 1),
                                     call.integer("output_width", 1)};
  return {call.g.apply(Op::RoiAlign, {call.in(0), call.in(1), call.in(2)},
                       {{"extents", extents},
                        {"scale", call.number("spatial_scale", 1)},
                        {"samples", call.integer("sampling_ratio", 0)},
                        {"mode", std::string(call.text("mode", "avg"))},
                        {"half_pixel", int64_t{mode == "half_pixel" ? 1 : 0}}})};
}

}  // namespace tenon::onnx::importers
