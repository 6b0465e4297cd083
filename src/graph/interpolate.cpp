// Interpolation as a sum over taps, axis by axis.
#include "graph/interpolate.h"

#include <cmath>

namespace tenon::graph {

namespace {

bool is_coordinate(double x) { return std::abs(x) < 0x1p48; }  // false for NaN

double sum_over(std::span<const double> image, std::span<const int64_t> extents,
                std::span<const std::vector<Tap>> taps, int64_t row) {
  if (taps.empty()) return image[static_cast<size_t>(row)];
  double sum = 0;
  for (const Tap& tap : taps[0]) {
    if (tap.at < 0 || tap.at >= extents[0]) continue;
    sum += tap.weight *
           sum_over(image, extents.subspan(1), taps.subspan(1), row * extents[0] + tap.at);
  }
  return sum;
}

}  // namespace

std::vector<Tap> linear_taps(double x) {
  if (!is_coordinate(x)) return {};
  const double low = std::floor(x);
  const auto at = static_cast<int64_t>(low);
  return {{at, 1 - (x - low)}, {at + 1, x - low}};
}

double cubic_weight(double distance, double coefficient) {
  const double a = coefficient, d = std::abs(distance);
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

std::vector<Tap> cubic_taps(double x, double coefficient) {
  if (!is_coordinate(x)) return {};
  const double low = std::floor(x);
  std::vector<Tap> taps;
  for (int64_t i = -1; i <= 2; ++i) {
    taps.push_back({static_cast<int64_t>(low) + i,
                    cubic_weight(low + static_cast<double>(i) - x, coefficient)});
  }
  return taps;
}

double interpolate(std::span<const double> image, std::span<const int64_t> extents,
                   std::span<const std::vector<Tap>> taps) {
  return sum_over(image, extents, taps, 0);
}

double linear_or_zero(std::span<const double> image, std::span<const int64_t> extents,
                      std::span<const double> at) {
  std::vector<std::vector<Tap>> taps;
  for (const double x : at) taps.push_back(linear_taps(x));
  return interpolate(image, extents, taps);
}

}  // namespace tenon::graph
