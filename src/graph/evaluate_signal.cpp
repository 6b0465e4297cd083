// Evaluation of signal ops: Fourier transforms by their definition, frames, cosine windows, mel
// filters. Lengths, steps and the axis may be data.
#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph::evaluators {

namespace {

using Complex = std::complex<double>;

int64_t scalar_of(const Evaluation& e, int operand) {
  if (e.operand(operand).elements() != 1) {
    throw user_error("[{}] operand {} must have one element", info(e.node.op()).text, operand);
  }
  return to_integers(e.operand(operand))[0];
}

// exp(2 pi i k / n) for each k
std::vector<Complex> roots(int64_t n, bool inverse) {
  std::vector<Complex> result;
  for (int64_t k = 0; k < n; ++k) {
    const double angle = 2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    result.push_back(std::polar(1.0, inverse ? angle : -angle));
  }
  return result;
}

struct Transform {
  int64_t length, in, out, parts;  // of the transform, extents along the axis, 1 or 2 numbers each
  bool inverse, onesided;
  size_t axis;
};

Transform transform_of(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const auto rank = std::ssize(x.shape);
  int64_t axis = scalar_of(e, 2);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank - 1 || x.shape.back() < 1 || x.shape.back() > 2) {
    throw user_error("[dft] axis {} of [{}] is no signal", axis, fmt::join(x.shape, ", "));
  }
  Transform t{scalar_of(e, 1),
              x.shape[static_cast<size_t>(axis)],
              0,
              x.shape.back(),
              e.attributes().integer("inverse") != 0,
              e.attributes().integer("onesided") != 0,
              static_cast<size_t>(axis)};
  if (t.length == 0) t.length = t.inverse && t.onesided ? 2 * (t.in - 1) : t.in;
  if (t.length < 1 || t.length > (int64_t{1} << 32)) {
    throw user_error("[dft] the length {} is not possible", t.length);
  }
  t.out = t.onesided && !t.inverse ? t.length / 2 + 1 : t.length;
  return t;
}

// Element k of a line, cut or padded with zeros to the length; the second half of a one-sided
// spectrum mirrors the first.
Complex element(const Transform& t, std::span<const double> values, size_t first, int64_t stride,
                int64_t k) {
  const bool mirrored = t.inverse && t.onesided && k > t.length / 2;
  const int64_t at = mirrored ? t.length - k : k;
  if (at >= t.in) return 0;
  const size_t offset = first + static_cast<size_t>(at * stride);
  const Complex value(values[offset], t.parts == 2 ? values[offset + 1] : 0);
  return mirrored ? std::conj(value) : value;
}

// Rectangles of frames and bins for mel weights; each edge is a bin of the spectrum.
std::vector<int64_t> mel_edges(double low, double high, int64_t bins, int64_t length, double rate) {
  const auto mel = [](double hertz) { return 2595 * std::log10(1 + hertz / 700); };
  const int64_t last = length / 2;
  const double step = (mel(high) - mel(low)) / static_cast<double>(bins + 2);
  std::vector<int64_t> edges;
  for (int64_t i = 0; i < bins + 2; ++i) {
    const double at = static_cast<double>(i) * step + mel(low);
    const double hertz = 700 * (std::pow(10.0, at / 2595) - 1);
    const double edge = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(edge >= 0 && edge <= static_cast<double>(last))) {
      throw user_error("[mel_weights] {} Hz is outside the spectrum", hertz);
    }
    edges.push_back(static_cast<int64_t>(edge));
  }
  return edges;
}

}  // namespace

Results dft(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Transform t = transform_of(e);
  Extents shape = x.shape;
  shape[t.axis] = t.out;
  shape.back() = t.inverse && t.onesided ? 1 : 2;
  const int64_t inner = element_count(std::span(x.shape).subspan(t.axis + 1)) / t.parts;
  const int64_t outer = element_count(std::span(x.shape).first(t.axis));
  const std::vector<double> values = to_doubles(x);
  const std::vector<Complex> root = roots(t.length, t.inverse);
  std::vector<double> result(static_cast<size_t>(element_count(shape)));
  for (int64_t line = 0; line < outer * inner; ++line) {
    const auto first = static_cast<size_t>((line / inner * t.in * inner + line % inner) * t.parts);
    for (int64_t k = 0; k < t.out; ++k) {
      Complex sum = 0;
      for (int64_t n = 0; n < t.length; ++n) {
        sum += element(t, values, first, inner * t.parts, n) *
               root[static_cast<size_t>(k * n % t.length)];
      }
      if (t.inverse) sum /= static_cast<double>(t.length);
      const auto to = static_cast<size_t>((line / inner * t.out + k) * inner + line % inner);
      const auto parts = static_cast<size_t>(shape.back());
      result[to * parts] = sum.real();
      if (parts == 2) result[to * parts + 1] = sum.imag();
    }
  }
  return {from_doubles(x.dtype, std::move(shape), result)};
}

Results frames(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const int64_t step = scalar_of(e, 1), length = scalar_of(e, 2), time = x.shape[1];
  if (step < 1 || length < 0 || length > time) {
    throw user_error("[frames] frames of {}, {} apart, do not fit a signal of {}", length, step,
                     time);
  }
  const int64_t count = (time - length) / step + 1, parts = x.shape[2];
  const Extents shape{x.shape[0], count, length, parts};
  const Extents strides{time * parts, step * parts, parts, 1};
  return {pick(x, shape, offsets(shape, strides))};
}

Results cosine_window(const Evaluation& e) {
  const int64_t size = scalar_of(e, 0);
  const bool periodic = e.attributes().integer("periodic") != 0;
  std::vector<double> window(static_cast<size_t>(element_count(Extents{size})));
  const auto period = static_cast<double>(periodic ? size : size - 1);
  for (size_t n = 0; n < window.size(); ++n) {
    double sign = 1, harmonic = 0;
    for (const double coefficient : e.attributes().numbers("coefficients")) {
      const double angle = 2 * std::numbers::pi * harmonic * static_cast<double>(n) / period;
      window[n] += sign * coefficient * std::cos(angle);
      sign = -sign;
      harmonic += 1;
    }
  }
  if (period == 0) std::fill(window.begin(), window.end(), 1.0);
  return {from_doubles(e.dtype(), {size}, window)};
}

// Triangles that overlap: each filter rises from one edge to the next and falls to the one after.
Results mel_weights(const Evaluation& e) {
  const int64_t bins = scalar_of(e, 0), length = scalar_of(e, 1), rate = scalar_of(e, 2);
  const double low = to_doubles(e.operand(3)).at(0), high = to_doubles(e.operand(4)).at(0);
  if (bins < 0 || length < 0 || rate <= 0 || bins > (int64_t{1} << 32)) {
    throw user_error("[mel_weights] {} bins of {} at {} Hz are not possible", bins, length, rate);
  }
  const Extents shape{length / 2 + 1, bins};
  std::vector<double> weights(static_cast<size_t>(element_count(shape)));
  const std::vector<int64_t> edges = mel_edges(low, high, bins, length, static_cast<double>(rate));
  for (int64_t i = 0; i < bins; ++i) {
    const int64_t* const edge = edges.data() + i;
    const auto at = [&](int64_t row) -> double& {
      return weights[static_cast<size_t>(row * bins + i)];
    };
    if (edge[1] == edge[0]) at(edge[1]) = 1;
    for (int64_t j = edge[0]; j <= edge[1] && edge[1] > edge[0]; ++j) {
      at(j) = static_cast<double>(j - edge[0]) / static_cast<double>(edge[1] - edge[0]);
    }
    for (int64_t j = edge[1]; j < edge[2]; ++j) {
      at(j) = static_cast<double>(edge[2] - j) / static_cast<double>(edge[2] - edge[1]);
    }
  }
  return {from_doubles(e.dtype(), shape, weights)};
}

}  // namespace tenon::graph::evaluators
