// Evaluation of grid_sample and affine_grid: an image read at the coordinates of a grid, and the
// grid of an affine map. Grids have the axes in reverse order and run over -1 .. 1.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/interpolate.h"
#include "graph/windows.h"

namespace tenon::graph::evaluators {

namespace {

struct Sampling {
  std::string mode, padding;
  bool corners;
};

// Back and forth between low and high until inside.
double reflected(double x, double low, double high) {
  const double range = high - low;
  if (!(range > 0) || !std::isfinite(x)) return low;
  const double rest = std::fmod(std::abs(x - low), 2 * range);
  return low + (rest > range ? 2 * range - rest : rest);
}

// The coordinate of a whole element, brought inside as the padding says; zeros stay outside.
int64_t padded(const Sampling& s, int64_t at, int64_t extent) {
  if (s.padding == "zeros" || (at >= 0 && at < extent)) return at;
  if (s.padding == "border") return std::clamp<int64_t>(at, 0, extent - 1);
  const double edge = s.corners ? 0 : -0.5;
  const double x = reflected(static_cast<double>(at), edge, static_cast<double>(extent - 1) - edge);
  return std::clamp<int64_t>(static_cast<int64_t>(std::nearbyint(x)), 0, extent - 1);
}

std::vector<Tap> grid_taps(const Sampling& s, double position, int64_t extent) {
  const auto length = static_cast<double>(extent);
  double x = s.corners ? (position + 1) / 2 * (length - 1) : ((position + 1) * length - 1) / 2;
  const double low = s.corners ? 0 : -0.5, high = length - 1 - low;
  if (s.mode == "nearest") x = std::nearbyint(x);
  if (!(x >= low && x <= high)) {
    if (s.padding == "border") x = std::isnan(x) ? 0 : std::clamp(x, 0.0, length - 1);
    if (s.padding == "reflection") x = reflected(x, low, high);
  }
  std::vector<Tap> taps = s.mode == "cubic" ? cubic_taps(x, -0.75) : linear_taps(x);
  if (s.mode == "nearest" && !taps.empty()) taps.erase(taps.begin() + 1, taps.end());
  for (Tap& tap : taps) tap.at = padded(s, tap.at, extent);
  return taps;
}

void check_grid(const Tensor& x, const Tensor& grid) {
  if (grid.shape[0] != x.shape[0] || grid.shape.back() != std::ssize(spatial(x))) {
    throw user_error("[grid_sample] the grid [{}] does not fit [{}]", fmt::join(grid.shape, ", "),
                     fmt::join(x.shape, ", "));
  }
}

}  // namespace

Results grid_sample(const Evaluation& e) {
  const Tensor &x = e.operand(0), &grid = e.operand(1);
  check_grid(x, grid);
  const Sampling s{e.attributes().text("mode"), e.attributes().text("padding"),
                   e.attributes().integer("align_corners") != 0};
  const std::span<const int64_t> image = spatial(x);
  const size_t rank = image.size();
  Extents shape = with_spatial(x, std::span(grid.shape).subspan(1, rank));
  const auto size = static_cast<size_t>(element_count(image));
  const auto positions = static_cast<size_t>(element_count(std::span(shape).subspan(2)));
  const auto channels = static_cast<size_t>(x.shape[1]);
  const std::vector<double> values = to_doubles(x), at = to_doubles(grid);
  std::vector<double> result(static_cast<size_t>(element_count(shape)));
  for (size_t i = 0; size > 0 && !result.empty() && i < at.size() / rank; ++i) {
    std::vector<std::vector<Tap>> taps;
    for (size_t k = 0; k < rank; ++k) {
      taps.push_back(grid_taps(s, at[i * rank + rank - 1 - k], image[k]));
    }
    for (size_t c = 0; c < channels; ++c) {
      const size_t plane = i / positions * channels + c;
      result[plane * positions + i % positions] =
          interpolate(std::span(values).subspan(plane * size, size), image, taps);
    }
  }
  return {from_doubles(x.dtype, std::move(shape), result)};
}

Results affine_grid(const Evaluation& e) {
  const Tensor& theta = e.operand(0);
  const Extents size = to_integers(e.operand(1));
  const auto rank = static_cast<size_t>(theta.shape[1]);
  if (size.size() != rank + 2 || theta.shape[2] != theta.shape[1] + 1 ||
      size[0] != theta.shape[0]) {
    throw user_error("[affine_grid] size [{}] does not fit theta [{}]", fmt::join(size, ", "),
                     fmt::join(theta.shape, ", "));
  }
  const bool corners = e.attributes().integer("align_corners") != 0;
  Extents shape{size[0]};
  shape.insert(shape.end(), size.begin() + 2, size.end());
  const int64_t positions = element_count(shape);
  shape.push_back(theta.shape[1]);
  const std::vector<double> factors = to_doubles(theta);
  std::vector<double> result;
  for (int64_t i = 0; i < positions; ++i) {
    int64_t rest = i;
    std::vector<double> point(rank + 1, 1.0);  // the last axis first, then 1
    for (size_t k = 0; k < rank; ++k) {
      const auto length = static_cast<double>(size[rank + 1 - k]);
      const auto o = static_cast<double>(rest % size[rank + 1 - k]);
      rest /= size[rank + 1 - k];
      const bool single = corners && length == 1;
      point[k] = single ? -1 : corners ? 2 * o / (length - 1) - 1 : (2 * o + 1) / length - 1;
    }
    for (size_t row = 0; row < rank; ++row) {
      double sum = 0;
      for (size_t k = 0; k <= rank; ++k) {
        sum += factors[(static_cast<size_t>(rest) * rank + row) * (rank + 1) + k] * point[k];
      }
      result.push_back(sum);
    }
  }
  return {from_doubles(theta.dtype, std::move(shape), result)};
}

}  // namespace tenon::graph::evaluators
