// Evaluation of resize, one axis at a time: each coordinate of the result has taps in the input,
// which nearest, linear and cubic weigh differently. Scales, sizes and the region may be data.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/interpolate.h"
#include "graph/windows.h"

namespace tenon::graph::evaluators {

namespace {

struct Axis {
  size_t number;  // in the tensor
  int64_t in, out;
  double scale;
  double from = 0, to = 1;  // the region of interest
};

double checked_scale(double scale, int64_t extent) {
  if (!(scale > 0 && scale * static_cast<double>(extent) < 0x1p40)) {
    throw user_error("[resize] the scale {} is not possible", scale);
  }
  return scale;
}

// One scale for all axes, so that the result is not larger, or not smaller, than the sizes say.
void keep_aspect(std::vector<Axis>& axes, bool not_larger) {
  if (axes.empty()) return;
  double scale = axes[0].scale;
  for (const Axis& a : axes)
    scale = not_larger ? std::min(scale, a.scale) : std::max(scale, a.scale);
  for (Axis& a : axes) {
    a.scale = scale;
    a.out = std::llround(scale * static_cast<double>(a.in));
  }
}

void read_sizes(const Evaluation& e, std::vector<Axis>& axes) {
  const std::vector<int64_t> sizes = to_integers(e.operand(1));
  for (size_t i = 0; i < axes.size(); ++i) {
    if (sizes[i] < 0 || axes[i].in == 0)
      throw user_error("[resize] the size {} is not possible", sizes[i]);
    axes[i].out = sizes[i];
    axes[i].scale = checked_scale(
        static_cast<double>(std::max<int64_t>(sizes[i], 1)) / static_cast<double>(axes[i].in),
        axes[i].in);
  }
  const std::string& policy = e.attributes().text("policy");
  if (policy != "stretch") keep_aspect(axes, policy == "not_larger");
}

// The product is in f32, as its factor is: 10 * 0.7 is 7.
void read_scales(const Evaluation& e, std::vector<Axis>& axes) {
  const std::vector<double> scales = to_doubles(e.operand(1));
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].scale = checked_scale(scales[i], axes[i].in);
    axes[i].out =
        static_cast<int64_t>(static_cast<float>(axes[i].in) * static_cast<float>(scales[i]));
    if (axes[i].in == 0) axes[i].out = 0;
  }
}

std::vector<Axis> axes_of(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  std::vector<Axis> axes;
  for (const int64_t axis : e.attributes().integers("order")) {
    const int64_t in = x.shape[static_cast<size_t>(axis)];
    axes.push_back({static_cast<size_t>(axis), in, in, 1});
  }
  if (e.operand(1).elements() != std::ssize(axes)) {
    throw user_error("[resize] {} scales or sizes for {} axes", e.operand(1).elements(),
                     axes.size());
  }
  if (is_float(e.operand(1).dtype)) {
    read_scales(e, axes);
  } else {
    read_sizes(e, axes);
  }
  if (e.operands.size() < 3) return axes;
  const std::vector<double> region = to_doubles(e.operand(2));
  if (region.size() != 2 * axes.size())
    throw user_error("[resize] the region has {} numbers for {} axes", region.size(), axes.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    axes[i].from = region[i];
    axes[i].to = region[axes.size() + i];
  }
  return axes;
}

// Where in the input the coordinate `y` of the result lies.
double source(const std::string& rule, const Axis& a, double y) {
  const auto in = static_cast<double>(a.in);
  const double out = a.scale * in;  // before it was rounded down to an extent
  const double half_pixel = (y + 0.5) / a.scale - 0.5;
  if (rule == "align_corners") return out == 1 ? 0 : y * (in - 1) / (out - 1);
  if (rule == "asymmetric") return y / a.scale;
  if (rule == "pytorch_half_pixel") return out == 1 ? -0.5 : half_pixel;
  if (rule == "half_pixel_symmetric") {
    return in / 2 * (1 - static_cast<double>(a.out) / out) + half_pixel;
  }
  if (rule == "tf_crop_and_resize") {
    const double region = (a.to - a.from) * (in - 1);
    return a.from * (in - 1) + (out == 1 ? region / 2 : y * region / (out - 1));
  }
  return half_pixel;
}

int64_t nearest(const std::string& rounding, double x) {
  if (rounding == "floor") return static_cast<int64_t>(std::floor(x));
  if (rounding == "ceil") return static_cast<int64_t>(std::ceil(x));
  if (rounding == "round_prefer_ceil") return static_cast<int64_t>(std::floor(x + 0.5));
  return static_cast<int64_t>(std::ceil(x - 0.5));
}

double checked_source(const Evaluation& e, const Axis& a, int64_t y) {
  const double x = source(e.attributes().text("coordinates"), a, static_cast<double>(y));
  if (!(std::abs(x) < 0x1p40)) throw user_error("[resize] a coordinate is {}", x);
  return x;
}

// The weighted elements of the input around `x`; the edge is repeated outside.
std::vector<Tap> taps_at(const Evaluation& e, const Axis& a, double x) {
  const Attributes& attributes = e.attributes();
  if (attributes.text("mode") == "nearest") {
    return {{std::clamp<int64_t>(nearest(attributes.text("rounding"), x), 0, a.in - 1), 1}};
  }
  const bool linear = attributes.text("mode") == "linear";
  const bool exclude = attributes.integer("exclude_outside") != 0;
  // Antialiasing widens the kernel by as much as the image shrinks.
  const double narrow = attributes.integer("antialias") != 0 ? std::min(a.scale, 1.0) : 1.0;
  const double radius = (linear ? 1 : 2) / narrow;
  std::vector<Tap> taps;
  double sum = 0;
  for (auto i = static_cast<int64_t>(std::floor(x - radius)); static_cast<double>(i) <= x + radius;
       ++i) {
    const double distance = (static_cast<double>(i) - x) * narrow;
    const double weight = linear ? std::max(0.0, 1 - std::abs(distance))
                                 : cubic_weight(distance, attributes.number("cubic"));
    if (weight == 0 || (exclude && (i < 0 || i >= a.in))) continue;
    taps.push_back({std::clamp<int64_t>(i, 0, a.in - 1), weight});
    sum += weight;
  }
  if (sum == 0) sum = 1;
  for (Tap& tap : taps) tap.weight /= sum;
  return taps;
}

// One axis of `values`, whose shape is [before, in, after], to [before, out, after].
std::vector<double> resized(const Evaluation& e, const Axis& a, std::span<const double> values,
                            size_t before, size_t after) {
  const auto in = static_cast<size_t>(a.in), out = static_cast<size_t>(a.out);
  std::vector<double> result(before * out * after);
  for (size_t y = 0; y < out; ++y) {
    for (const Tap& tap : taps_at(e, a, checked_source(e, a, static_cast<int64_t>(y)))) {
      for (size_t i = 0; i < before; ++i) {
        const double* const from = values.data() + (i * in + static_cast<size_t>(tap.at)) * after;
        double* const to = result.data() + (i * out + y) * after;
        for (size_t k = 0; k < after; ++k) to[k] += tap.weight * from[k];
      }
    }
  }
  return result;
}

Tensor interpolated(const Evaluation& e, const std::vector<Axis>& axes) {
  const Tensor& x = e.operand(0);
  std::vector<double> values = to_doubles(x);
  Extents shape = x.shape;
  for (const Axis& a : axes) {
    if (a.scale == 1 && a.out == a.in && a.from == 0 && a.to == 1) continue;
    const std::span<const int64_t> extents(shape);
    const auto before = static_cast<size_t>(element_count(extents.first(a.number)));
    const auto after = static_cast<size_t>(element_count(extents.subspan(a.number + 1)));
    values = resized(e, a, values, before, after);
    shape[a.number] = a.out;
  }
  return from_doubles(x.dtype, std::move(shape), values);
}

// Whole elements, of any dtype, bit for bit.
Tensor picked(const Evaluation& e, const std::vector<Axis>& axes) {
  const Tensor& x = e.operand(0);
  Tensor result = x;
  for (const Axis& a : axes) {
    Extents shape = result.shape;
    shape[a.number] = a.out;
    std::vector<int64_t> rows;
    for (int64_t y = 0; y < a.out; ++y)
      rows.push_back(taps_at(e, a, checked_source(e, a, y))[0].at);
    const int64_t after = element_count(std::span(shape).subspan(a.number + 1));
    std::vector<int64_t> at(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < at.size(); ++i) {
      const auto offset = static_cast<int64_t>(i);
      const int64_t row = rows[static_cast<size_t>(offset / after % a.out)];
      at[i] = (offset / after / a.out * a.in + row) * after + offset % after;
    }
    result = pick(result, std::move(shape), at);
  }
  return result;
}

// What lies outside the input gets one value.
void fill_outside(const Evaluation& e, const Axis& a, Tensor& result) {
  const int64_t after = element_count(std::span(result.shape).subspan(a.number + 1));
  const int64_t size = size_of(result.dtype), count = result.elements();
  for (int64_t y = 0; y < a.out; ++y) {
    const double x = checked_source(e, a, y);
    if (x >= 0 && x <= static_cast<double>(a.in - 1)) continue;
    for (int64_t i = y * after; i < count; i += a.out * after) {
      for (int64_t k = 0; k < after; ++k) {
        store_from_f64(result.dtype, result.bytes.data() + (i + k) * size,
                       e.attributes().number("outside"));
      }
    }
  }
}

}  // namespace

Results resize(const Evaluation& e) {
  const std::vector<Axis> axes = axes_of(e);
  Tensor result =
      e.attributes().text("mode") == "nearest" ? picked(e, axes) : interpolated(e, axes);
  if (e.attributes().text("coordinates") == "tf_crop_and_resize") {
    for (const Axis& a : axes) fill_outside(e, a, result);
  }
  return {std::move(result)};
}

}  // namespace tenon::graph::evaluators
