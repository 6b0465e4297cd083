// Evaluation of the window ops whose taps are not a fixed pattern: columns summed back into an
// image, and deformable convolution, whose taps are moved by data.
#include <cmath>

#include "base/error.h"
#include "graph/interpolate.h"
#include "graph/windows.h"

namespace tenon::graph::evaluators {

namespace {

// Extents that come from data: none may be negative, and they have the spatial rank.
Extents given_extents(const Evaluation& e, int operand, size_t rank) {
  Extents extents = to_integers(e.operand(operand));
  bool fits = extents.size() == rank;
  for (const int64_t extent : extents) fits = fits && extent >= 0;
  if (!fits) {
    throw user_error("[{}] operand {} holds no extents: [{}]", info(e.node.op()).text, operand,
                     fmt::join(extents, ", "));
  }
  return extents;
}

Windows column_windows(const Evaluation& e) {
  const Attributes& a = e.attributes();
  const size_t rank = a.integers("strides").size();
  const std::vector<int64_t>& pads = a.integers("pads");
  Windows w{given_extents(e, 1, rank), {}, given_extents(e, 2, rank), {}, a.integers("strides"),
            a.integers("dilations")};
  static_cast<void>(w.taps());  // bounds the kernel
  for (size_t i = 0; i < rank; ++i) {
    const int64_t span = w.dilations[i] * (w.kernel[i] - 1) + 1;
    const int64_t room = w.image[i] + pads[i] + pads[rank + i] - span;
    w.result.push_back(room < 0 ? 0 : room / w.strides[i] + 1);
    w.begins.push_back(pads[i]);
  }
  return w;
}

template <typename T>
std::vector<T> sum_columns(const Windows& windows, const std::vector<T>& x, int64_t planes) {
  const std::vector<int64_t> taps = windows.offsets(0, windows.positions());
  const auto size = static_cast<size_t>(element_count(windows.image));
  std::vector<T> sums(static_cast<size_t>(planes) * size);
  for (size_t i = 0; i < static_cast<size_t>(planes); ++i) {
    for (size_t k = 0; k < taps.size(); ++k) {
      if (taps[k] < 0) continue;
      sums[i * size + static_cast<size_t>(taps[k])] += x[i * taps.size() + k];
    }
  }
  return sums;
}

struct Deform {
  const Windows& windows;
  int64_t channels, offset_groups, groups;
  std::vector<double> x, w, offsets, mask;
};

// What tap `tap` of the window at `position` reads in one channel, times the mask.
double moved_tap(const Deform& d, int64_t batch, int64_t channel, int64_t tap, int64_t position) {
  const size_t rank = d.windows.image.size();
  const int64_t positions = d.windows.positions(), taps = d.windows.taps();
  const int64_t group = channel / (d.channels / d.offset_groups);
  const int64_t row = (batch * d.offset_groups + group) * taps + tap;
  std::vector<double> at(rank);
  int64_t rest_tap = tap, rest = position;
  for (size_t i = rank; i-- > 0;) {
    const int64_t k = rest_tap % d.windows.kernel[i], o = rest % d.windows.result[i];
    rest_tap /= d.windows.kernel[i];
    rest /= d.windows.result[i];
    const int64_t entry = (row * static_cast<int64_t>(rank) + static_cast<int64_t>(i)) * positions;
    at[i] = static_cast<double>(o * d.windows.strides[i] + k * d.windows.dilations[i] -
                                d.windows.begins[i]) +
            d.offsets[static_cast<size_t>(entry + position)];
  }
  const int64_t size = element_count(d.windows.image);
  const std::span<const double> plane = std::span(d.x).subspan(
      static_cast<size_t>((batch * d.channels + channel) * size), static_cast<size_t>(size));
  return linear_or_zero(plane, d.windows.image, at) *
         d.mask[static_cast<size_t>(row * positions + position)];
}

void check_deform(const Evaluation& e, const Deform& d) {
  const Tensor& w = e.operand(1);
  const int64_t batch = e.operand(0).shape[0], taps = d.windows.taps();
  const int64_t fields = batch * d.offset_groups * taps * d.windows.positions();
  const auto rank = static_cast<int64_t>(d.windows.image.size());
  if (d.channels % d.offset_groups != 0 || w.shape[1] * d.groups != d.channels ||
      w.shape[0] % d.groups != 0 || e.operand(3).elements() != fields ||
      e.operand(2).elements() != fields * rank) {
    throw user_error("[deform_conv] weights, offsets and mask do not fit {} channels in {} groups",
                     d.channels, d.groups);
  }
}

}  // namespace

Results col2im(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Windows windows = column_windows(e);
  const int64_t taps = windows.taps();
  if (taps == 0 || x.shape[1] % taps != 0 || x.shape[2] != windows.positions()) {
    throw user_error("[col2im] columns [{}] do not fit windows [{}] over an image [{}]",
                     fmt::join(x.shape, ", "), fmt::join(windows.kernel, ", "),
                     fmt::join(windows.image, ", "));
  }
  const int64_t channels = x.shape[1] / taps, count = x.shape[0] * channels;
  Extents shape{x.shape[0], channels};
  shape.insert(shape.end(), windows.image.begin(), windows.image.end());
  if (is_float(x.dtype)) {
    return {from_doubles(x.dtype, shape, sum_columns(windows, to_doubles(x), count))};
  }
  return {from_patterns(x.dtype, shape, sum_columns(windows, to_patterns(x), count))};
}

Results deform_conv(const Evaluation& e) {
  const Tensor &x = e.operand(0), &w = e.operand(1);
  const Attributes& a = e.attributes();
  const Windows windows{{spatial(x).begin(), spatial(x).end()},
                        {spatial(e.operand(2)).begin(), spatial(e.operand(2)).end()},
                        {spatial(w).begin(), spatial(w).end()},
                        e.values_of(a.dims("begins")),
                        a.integers("strides"),
                        a.integers("dilations")};
  const Deform d{
      windows,       x.shape[1],    a.integer("offset_groups"), a.integer("groups"),
      to_doubles(x), to_doubles(w), to_doubles(e.operand(2)),   to_doubles(e.operand(3))};
  check_deform(e, d);
  const int64_t out = w.shape[0], in = w.shape[1], taps = windows.taps();
  const int64_t positions = windows.positions();
  Extents shape = with_spatial(x, windows.result);
  shape[1] = out;
  std::vector<double> sums(static_cast<size_t>(element_count(shape)));
  for (int64_t i = 0; i < x.shape[0] * d.channels * taps * positions; ++i) {
    const int64_t position = i % positions, tap = i / positions % taps;
    const int64_t channel = i / positions / taps % d.channels,
                  batch = i / positions / taps / d.channels;
    const double value = moved_tap(d, batch, channel, tap, position);
    const int64_t group = channel / in, per_group = out / d.groups;
    for (int64_t o = group * per_group; o < (group + 1) * per_group; ++o) {
      sums[static_cast<size_t>((batch * out + o) * positions + position)] +=
          value * d.w[static_cast<size_t>((o * in + channel % in) * taps + tap)];
    }
  }
  return {from_doubles(x.dtype, std::move(shape), sums)};
}

}  // namespace tenon::graph::evaluators
