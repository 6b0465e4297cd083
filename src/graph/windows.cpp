// Windows: offsets of taps, axis by axis.
#include "graph/windows.h"

namespace tenon::graph {

namespace {

// The coordinate of each tap at each position along one axis, -1 where outside: [tap][position].
std::vector<int64_t> along_axis(const Windows& w, size_t axis) {
  std::vector<int64_t> result;
  for (int64_t tap = 0; tap < w.kernel[axis]; ++tap) {
    for (int64_t o = 0; o < w.result[axis]; ++o) {
      const int64_t at = o * w.strides[axis] + tap * w.dilations[axis] - w.begins[axis];
      result.push_back(at >= 0 && at < w.image[axis] ? at : -1);
    }
  }
  return result;
}

// The digits of a number whose places have these extents, as row-major order counts.
Extents digits(int64_t number, std::span<const int64_t> extents) {
  Extents result(extents.size());
  for (size_t i = extents.size(); i-- > 0;) {
    result[i] = number % extents[i];
    number /= extents[i];
  }
  return result;
}

void step(Extents& index, std::span<const int64_t> extents) {
  for (size_t i = extents.size(); i-- > 0;) {
    if (++index[i] < extents[i]) return;
    index[i] = 0;
  }
}

}  // namespace

std::vector<int64_t> Windows::offsets(int64_t first, int64_t count) const {
  std::vector<std::vector<int64_t>> axes;
  for (size_t i = 0; i < image.size(); ++i) axes.push_back(along_axis(*this, i));
  std::vector<int64_t> found;
  found.reserve(static_cast<size_t>(taps() * count));
  Extents tap(kernel.size(), 0);
  for (int64_t t = 0; t < taps() && count > 0; ++t, step(tap, kernel)) {
    Extents at = digits(first, result);
    for (int64_t o = 0; o < count; ++o, step(at, result)) {
      int64_t offset = 0;
      for (size_t i = 0; i < image.size(); ++i) {
        const int64_t x = axes[i][static_cast<size_t>(tap[i] * result[i] + at[i])];
        if (x < 0) {
          offset = -1;
          break;
        }
        offset = offset * image[i] + x;
      }
      found.push_back(offset);
    }
  }
  return found;
}

Windows windows_of(const Evaluation& e, std::span<const int64_t> kernel) {
  const Attributes& a = e.attributes();
  const std::span<const int64_t> image = spatial(e.operand(0));
  return {{image.begin(), image.end()},   e.values_of(a.dims("extents")),
          {kernel.begin(), kernel.end()}, e.values_of(a.dims("begins")),
          a.integers("strides"),          a.integers("dilations")};
}

std::vector<uint64_t> to_patterns(const Tensor& tensor) {
  const std::vector<int64_t> values = to_integers(tensor);
  return {values.begin(), values.end()};
}

Tensor from_patterns(DType dtype, Extents shape, std::span<const uint64_t> values) {
  return from_integers(dtype, std::move(shape), std::vector<int64_t>(values.begin(), values.end()));
}

std::span<const int64_t> spatial(const Tensor& tensor) {
  return std::span(tensor.shape).subspan(2);
}

int64_t planes(const Tensor& tensor) { return element_count(std::span(tensor.shape).first(2)); }

Extents with_spatial(const Tensor& x, std::span<const int64_t> extents) {
  Extents shape{x.shape[0], x.shape[1]};
  shape.insert(shape.end(), extents.begin(), extents.end());
  return shape;
}

}  // namespace tenon::graph
