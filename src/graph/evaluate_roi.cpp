// Evaluation of region-of-interest pools: the largest element of each bin, or samples between
// elements. Regions are data, so everything read from them is checked.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/interpolate.h"
#include "graph/windows.h"

namespace tenon::graph::evaluators {

namespace {

int64_t batch_of(const Evaluation& e, double number) {
  const auto batches = static_cast<double>(e.operand(0).shape[0]);
  if (!(number >= 0 && number < batches)) {
    throw user_error("[{}] a region is in image {} of {}", info(e.node.op()).text, number, batches);
  }
  return static_cast<int64_t>(number);
}

// Rounded half away from zero, as far as an image can reach.
int64_t rounded(double x) {
  if (std::isnan(x)) throw user_error("[roi_pool] a region is not a number");
  return static_cast<int64_t>(std::round(std::clamp(x, -0x1p40, 0x1p40)));
}

struct Span {
  int64_t from, to;
};

// Bin `i` of `bins` along one axis, cut to the image.
Span bin(int64_t start, int64_t end, int64_t i, int64_t bins, int64_t extent) {
  const auto length = static_cast<double>(std::max<int64_t>(end - start + 1, 1));
  const double width = length / static_cast<double>(bins);
  const auto from = static_cast<int64_t>(std::floor(static_cast<double>(i) * width));
  const auto to = static_cast<int64_t>(std::ceil(static_cast<double>(i + 1) * width));
  return {std::clamp<int64_t>(from + start, 0, extent), std::clamp<int64_t>(to + start, 0, extent)};
}

double largest_in(std::span<const double> plane, int64_t width, Span rows, Span columns) {
  if (rows.from >= rows.to || columns.from >= columns.to) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (int64_t y = rows.from; y < rows.to; ++y) {
    for (int64_t x = columns.from; x < columns.to; ++x) {
      const double value = plane[static_cast<size_t>(y * width + x)];
      if (std::isnan(value) || value > best) best = value;
    }
  }
  return best;
}

// The places sampled along one axis in one bin.
struct Axis {
  double start, bin;
  int64_t samples;
};

Axis axis_of(const Evaluation& e, double from, double to, int64_t bins) {
  const Attributes& a = e.attributes();
  const bool half = a.integer("half_pixel") != 0;
  const double start = from * a.number("scale") - (half ? 0.5 : 0);
  double length = to * a.number("scale") - (half ? 0.5 : 0) - start;
  if (!half) length = std::max(length, 1.0);
  const double width = length / static_cast<double>(bins);
  if (!(std::abs(start) < 0x1p31 && std::abs(width) < 0x1p16)) {
    throw user_error("[roi_align] a region reaches from {} to {}", from, to);
  }
  const int64_t samples = a.integer("samples");
  return {start, width,
          samples > 0 ? samples : std::max<int64_t>(0, static_cast<int64_t>(std::ceil(width)))};
}

// The two elements around sample `s` of bin `i`; none where it lies outside the image.
std::vector<Tap> sample_taps(const Axis& axis, int64_t i, int64_t s, int64_t extent) {
  const double step = axis.bin / static_cast<double>(axis.samples);
  const double x =
      axis.start + static_cast<double>(i) * axis.bin + (static_cast<double>(s) + 0.5) * step;
  if (x < -1 || x > static_cast<double>(extent)) return {};
  return linear_taps(std::clamp(x, 0.0, static_cast<double>(extent - 1)));
}

// The largest weighted element, as ONNX defines the maximum of a sample.
double largest_term(std::span<const double> plane, std::span<const int64_t> image,
                    std::span<const std::vector<Tap>> taps) {
  if (taps[0].empty() || taps[1].empty()) return 0;
  double best = -std::numeric_limits<double>::infinity();
  for (const Tap& y : taps[0]) {
    for (const Tap& x : taps[1]) {
      const int64_t row = std::min(y.at, image[0] - 1), column = std::min(x.at, image[1] - 1);
      const double value = plane[static_cast<size_t>(row * image[1] + column)];
      best = std::max(best, y.weight * x.weight * value);
    }
  }
  return best;
}

double aligned_bin(std::span<const double> plane, std::span<const int64_t> image, const Axis& rows,
                   const Axis& columns, int64_t y, int64_t x, bool average) {
  double sum = 0, best = -std::numeric_limits<double>::infinity();
  for (int64_t i = 0; i < rows.samples; ++i) {
    for (int64_t k = 0; k < columns.samples; ++k) {
      const std::vector<Tap> taps[] = {sample_taps(rows, y, i, image[0]),
                                       sample_taps(columns, x, k, image[1])};
      if (average) sum += interpolate(plane, image, taps);
      if (!average) best = std::max(best, largest_term(plane, image, taps));
    }
  }
  const int64_t count = rows.samples * columns.samples;
  if (count == 0) return 0;
  return average ? sum / static_cast<double>(count) : best;
}

// Calls f(region, plane of x, y bin, x bin) for each element of the result.
template <typename F>
Results for_each_bin(const Evaluation& e, std::span<const double> batches, F f) {
  const Tensor& x = e.operand(0);
  const std::vector<int64_t>& bins = e.attributes().integers("extents");
  const std::vector<double> values = to_doubles(x);
  const int64_t channels = x.shape[1], size = element_count(spatial(x));
  Extents shape{std::ssize(batches), channels, bins[0], bins[1]};
  std::vector<double> result(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; i < result.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t region = at / bins[1] / bins[0] / channels;
    const int64_t plane = batch_of(e, batches[static_cast<size_t>(region)]) * channels +
                          at / bins[1] / bins[0] % channels;
    const std::span<const double> image =
        std::span(values).subspan(static_cast<size_t>(plane * size), static_cast<size_t>(size));
    result[i] = f(region, image, at / bins[1] % bins[0], at % bins[1]);
  }
  return {from_doubles(x.dtype, std::move(shape), result)};
}

}  // namespace

Results roi_pool(const Evaluation& e) {
  const std::vector<double> rois = to_doubles(e.operand(1));
  const std::vector<int64_t>& bins = e.attributes().integers("extents");
  const double scale = e.attributes().number("scale");
  std::vector<double> batches;
  for (size_t i = 0; i < rois.size(); i += 5) batches.push_back(rois[i]);
  const std::span<const int64_t> image = spatial(e.operand(0));
  return for_each_bin(
      e, batches, [&](int64_t i, std::span<const double> plane, int64_t y, int64_t x) {
        const double* const roi = rois.data() + i * 5 + 1;
        const Span columns =
            bin(rounded(roi[0] * scale), rounded(roi[2] * scale), x, bins[1], image[1]);
        const Span rows =
            bin(rounded(roi[1] * scale), rounded(roi[3] * scale), y, bins[0], image[0]);
        return largest_in(plane, image[1], rows, columns);
      });
}

Results roi_align(const Evaluation& e) {
  const std::vector<double> rois = to_doubles(e.operand(1)), batches = to_doubles(e.operand(2));
  if (rois.size() != batches.size() * 4) {
    throw user_error("[roi_align] {} numbers for {} regions", rois.size(), batches.size());
  }
  const std::vector<int64_t>& bins = e.attributes().integers("extents");
  const bool average = e.attributes().text("mode") == "avg";
  const std::span<const int64_t> image = spatial(e.operand(0));
  return for_each_bin(e, batches,
                      [&](int64_t i, std::span<const double> plane, int64_t y, int64_t x) {
                        if (plane.empty()) return 0.0;
                        const double* const roi = rois.data() + i * 4;
                        return aligned_bin(plane, image, axis_of(e, roi[1], roi[3], bins[0]),
                                           axis_of(e, roi[0], roi[2], bins[1]), y, x, average);
                      });
}

}  // namespace tenon::graph::evaluators
