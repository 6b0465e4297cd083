// Windows from ONNX attributes: auto_pad, ceil_mode and the shapes of results.
#include "import/onnx/window_attributes.h"

#include <algorithm>
#include <numeric>

namespace tenon::onnx {

namespace {

enum class Padding { Given, Upper, Lower, None };

Padding padding_of(Call& call) {
  const std::string_view mode = call.text("auto_pad", "NOTSET");
  if (mode == "NOTSET" || mode.empty()) return Padding::Given;
  if (mode == "SAME_UPPER") return Padding::Upper;
  if (mode == "SAME_LOWER") return Padding::Lower;
  if (mode == "VALID") return Padding::None;
  throw user_error("attribute 'auto_pad' must not be '{}'", mode);
}

void check_step(std::string_view name, int64_t value) {
  if (value >= 1 && value <= (int64_t{1} << 24)) return;
  throw user_error("attribute '{}' must not hold {}", name, value);
}

std::vector<Dim> spatial_dims(Value x) {
  if (x.shape().rank() < 3) {
    throw user_error("{} is no image of batch, channels and axes", x.type().to_string());
  }
  return {x.shape().begin() + 2, x.shape().end()};
}

WindowAttributes start(Call& call, size_t rank, std::vector<Dim> kernel) {
  if (kernel.size() != rank) {
    throw user_error("a kernel of {} axes over an image of {}", kernel.size(), rank);
  }
  for (const Dim& extent : kernel) {
    if (extent.is_const()) check_step("kernel_shape", extent.const_value());
  }
  WindowAttributes w{axis_numbers(call, "strides", rank, 1),
                     axis_numbers(call, "dilations", rank, 1),
                     std::move(kernel),
                     {},
                     {},
                     {}};
  for (const int64_t stride : w.strides) check_step("strides", stride);
  for (const int64_t dilation : w.dilations) check_step("dilations", dilation);
  const std::vector<int64_t> pads = axis_numbers(call, "pads", 2 * rank, 0);
  w.begins.assign(pads.begin(), pads.begin() + static_cast<int64_t>(rank));
  w.ends.assign(pads.begin() + static_cast<int64_t>(rank), pads.end());
  return w;
}

Dim span_of(const WindowAttributes& w, size_t i) { return (w.kernel[i] - 1) * w.dilations[i] + 1; }

// Half before, half after; an odd one goes after (upper) or before.
void distribute(WindowAttributes& w, size_t i, const Dim& total, bool upper) {
  const Dim half = floordiv(total, 2);
  w.begins[i] = upper ? half : total - half;
  w.ends[i] = total - w.begins[i];
}

}  // namespace

graph::Attributes WindowAttributes::common() const {
  return {{"extents", extents}, {"begins", begins}, {"strides", strides}, {"dilations", dilations}};
}

std::vector<int64_t> axis_numbers(Call& call, std::string_view name, size_t count,
                                  int64_t otherwise) {
  const auto given = call.integers(name);
  if (!given || given->empty()) return std::vector<int64_t>(count, otherwise);
  if (given->size() != count) {
    throw user_error("attribute '{}' has {} entries, not {}", name, given->size(), count);
  }
  return *given;
}

std::vector<Dim> kernel_of(Call& call, Value weights) {
  const auto given = call.integers("kernel_shape");
  std::vector<Dim> dims = spatial_dims(weights);
  if (!given || given->empty()) return dims;
  const std::vector<Dim> kernel(given->begin(), given->end());
  bool fits = kernel.size() == dims.size();
  for (size_t i = 0; fits && i < dims.size(); ++i) {
    fits = prove_equal(dims[i], kernel[i]) != Proof::No;
    if (fits) {
      call.g.add_constraint({Constraint::Kind::Equal, dims[i], kernel[i],
                             "[conv] extents of the kernel and its kernel_shape"});
    }
  }
  if (fits) return kernel;
  throw user_error("attribute 'kernel_shape' is [{}], but the kernel is {}",
                   fmt::join(*given, ", "), weights.type().to_string());
}

WindowAttributes window_attributes(Call& call, Value x, std::vector<Dim> kernel, bool ceil) {
  const std::vector<Dim> image = spatial_dims(x);
  WindowAttributes w = start(call, image.size(), std::move(kernel));
  const Padding padding = padding_of(call);
  for (size_t i = 0; i < image.size(); ++i) {
    const int64_t stride = w.strides[i];
    const Dim span = span_of(w, i);
    if (padding == Padding::Upper || padding == Padding::Lower) {
      const Dim extent = ceildiv(image[i], stride);
      const Dim total = max((extent - 1) * stride + span - image[i], 0);
      distribute(w, i, total, padding == Padding::Upper);
      w.extents.push_back(extent);
      continue;
    }
    if (padding == Padding::None) w.begins[i] = w.ends[i] = 0;
    const Dim room = image[i] + w.begins[i] + w.ends[i] - span;
    if (!ceil) {
      w.extents.push_back(floordiv(room, stride) + 1);
    } else {  // a window that starts behind the image does not count
      w.extents.push_back(min(ceildiv(room, stride), floordiv(image[i] + w.begins[i] - 1, stride)) +
                          1);
    }
  }
  return w;
}

WindowAttributes transposed_window_attributes(Call& call, Value x, std::vector<Dim> kernel) {
  const std::vector<Dim> image = spatial_dims(x);
  const size_t rank = image.size();
  WindowAttributes w = start(call, rank, std::move(kernel));
  const Padding padding = padding_of(call);
  const std::vector<int64_t> extra = axis_numbers(call, "output_padding", rank, 0);
  const std::vector<int64_t> given = call.integers("output_shape").value_or(std::vector<int64_t>{});
  if (!given.empty() && given.size() < rank) throw user_error("output_shape has too few entries");
  for (const int64_t padding_of_axis : extra) {
    if (padding_of_axis != 0) check_step("output_padding", padding_of_axis);
  }
  for (size_t i = 0; i < rank; ++i) {
    const Dim whole = (image[i] - 1) * w.strides[i] + extra[i] + span_of(w, i);
    const bool same = padding == Padding::Upper || padding == Padding::Lower;
    if (!given.empty() || same) {
      const Dim extent =
          given.empty() ? image[i] * w.strides[i] : Dim(given[given.size() - rank + i]);
      distribute(w, i, max(whole - extent, 0), padding == Padding::Upper);
      w.extents.push_back(extent);
      continue;
    }
    if (padding == Padding::None) w.begins[i] = w.ends[i] = 0;
    w.extents.push_back(whole - w.begins[i] - w.ends[i]);
  }
  return w;
}

Dim fresh_extent(Call& call, const std::string& stem) {
  return call.g.fresh_symbol(stem, {0, kDimInf});
}

std::vector<Dim> fresh_extents(Call& call, const std::string& stem, size_t count) {
  std::vector<Dim> dims;
  for (size_t i = 0; i < count; ++i) dims.push_back(fresh_extent(call, stem));
  return dims;
}

std::optional<Dim> known_scalar(Value value) {
  const auto known = shape_value(value);
  if (!known || known->size() != 1) return {};
  return known->front();
}

Value per_channel(Call& call, Value vector, int rank) {
  if (vector.shape().rank() != 1 || rank < 2) {
    throw user_error("{} must be a vector", vector.type().to_string());
  }
  std::vector<Dim> dims(static_cast<size_t>(rank), 1);
  dims.at(1) = vector.shape()[0];
  return call.g.reshape(vector, std::move(dims));
}

namespace {

std::vector<int64_t> axes_of_image(Value x) {
  std::vector<int64_t> axes(static_cast<size_t>(x.shape().rank()));
  if (axes.size() < 3) throw user_error("{} is no image", x.type().to_string());
  std::iota(axes.begin(), axes.end(), 0);
  return axes;
}

}  // namespace

Value channels_first(Call& call, Value x) {
  std::vector<int64_t> axes = axes_of_image(x);
  std::rotate(axes.begin() + 1, axes.end() - 1, axes.end());
  return call.g.transpose(x, std::move(axes));
}

Value channels_last(Call& call, Value x) {
  std::vector<int64_t> axes = axes_of_image(x);
  std::rotate(axes.begin() + 1, axes.begin() + 2, axes.end());
  return call.g.transpose(x, std::move(axes));
}

}  // namespace tenon::onnx
