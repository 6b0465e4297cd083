// The blocks as textbooks write them: loops over doubles. What modules are compared with.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

namespace tenon::naive {

struct Array {
  std::vector<int64_t> shape;
  std::vector<double> data;

  explicit Array(std::vector<int64_t> extents) : shape(std::move(extents)) {
    data.resize(static_cast<size_t>(
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>())));
  }
  int64_t width() const { return shape.back(); }
  int64_t rows() const { return static_cast<int64_t>(data.size()) / width(); }
  double& at(int64_t row, int64_t column) {
    return data[static_cast<size_t>(row * width() + column)];
  }
  double at(int64_t row, int64_t column) const {
    return data[static_cast<size_t>(row * width() + column)];
  }
};

// Floats in [-1, 1), the same for the same shape and seed.
inline Array random(std::vector<int64_t> shape, unsigned seed) {
  Array result(std::move(shape));
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> distribution(-1, 1);
  for (double& value : result.data) value = distribution(engine);
  return result;
}

inline Array map(Array x, const std::function<double(double)>& f) {
  for (double& value : x.data) value = f(value);
  return x;
}

inline Array plus(Array a, const Array& b) {  // b: of the same shape, or a row
  for (size_t i = 0; i < a.data.size(); ++i) a.data[i] += b.data[i % b.data.size()];
  return a;
}

inline Array times(Array a, const Array& b) {
  for (size_t i = 0; i < a.data.size(); ++i) a.data[i] *= b.data[i % b.data.size()];
  return a;
}

inline Array matmul(const Array& x, const Array& w) {
  std::vector<int64_t> shape = x.shape;
  shape.back() = w.width();
  Array result(std::move(shape));
  for (int64_t i = 0; i < x.rows(); ++i) {
    for (int64_t j = 0; j < w.width(); ++j) {
      for (int64_t k = 0; k < x.width(); ++k) result.at(i, j) += x.at(i, k) * w.at(k, j);
    }
  }
  return result;
}

inline double silu(double x) { return x / (1 + std::exp(-x)); }
inline double gelu(double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2.0))); }

inline Array swiglu(const Array& x, const Array& gate, const Array& up, const Array& down) {
  return matmul(times(map(matmul(x, gate), silu), matmul(x, up)), down);
}

inline Array rms_norm(Array x, const Array& scale, double epsilon) {
  for (int64_t i = 0; i < x.rows(); ++i) {
    double sum = 0;
    for (int64_t j = 0; j < x.width(); ++j) sum += x.at(i, j) * x.at(i, j);
    const double root = std::sqrt(sum / static_cast<double>(x.width()) + epsilon);
    for (int64_t j = 0; j < x.width(); ++j) x.at(i, j) = x.at(i, j) / root * scale.at(0, j);
  }
  return x;
}

inline Array layer_norm(Array x, const Array& scale, const Array& bias, double epsilon) {
  for (int64_t i = 0; i < x.rows(); ++i) {
    double mean = 0;
    for (int64_t j = 0; j < x.width(); ++j) mean += x.at(i, j) / static_cast<double>(x.width());
    for (int64_t j = 0; j < x.width(); ++j) x.at(i, j) -= mean;
  }
  return plus(rms_norm(std::move(x), scale, epsilon), bias);
}

inline void softmax(std::vector<double>& row) {
  double sum = 0;
  for (double& value : row) sum += value = std::exp(value);
  for (double& value : row) value /= sum;
}

// `score` makes of the scaled product of query i and key j what goes into the softmax.
struct Place {
  int64_t batch, head, query, key;
};
using Score = std::function<double(double, const Place&)>;
inline Array attention(const Array& q, const Array& k, const Array& v, int64_t heads,
                       int64_t kv_heads, double scale, const Score& score) {
  Array result(q.shape);
  const int64_t queries = q.shape[1], keys = k.shape[1], dim = q.width() / heads;
  for (int64_t b = 0; b < q.shape[0]; ++b) {
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t shared = h / (heads / kv_heads);
      for (int64_t i = 0; i < queries; ++i) {
        std::vector<double> row(static_cast<size_t>(keys));
        for (int64_t j = 0; j < keys; ++j) {
          double dot = 0;
          for (int64_t d = 0; d < dim; ++d)
            dot += q.at(b * queries + i, h * dim + d) * k.at(b * keys + j, shared * dim + d);
          row[static_cast<size_t>(j)] = score(dot * scale, {b, h, i, j});
        }
        softmax(row);
        for (int64_t j = 0; j < keys; ++j) {
          for (int64_t d = 0; d < dim; ++d) {
            result.at(b * queries + i, h * dim + d) +=
                row[static_cast<size_t>(j)] * v.at(b * keys + j, shared * dim + d);
          }
        }
      }
    }
  }
  return result;
}

constexpr double kHidden = -INFINITY;
inline double causal(double score, const Place& at) { return at.key <= at.query ? score : kHidden; }

// `angle(row of x, pair)`; `dim` elements of each head turn.
inline Array rotary(Array x, int64_t heads, int64_t dim, bool interleaved,
                    const std::function<double(int64_t, int64_t)>& angle) {
  const int64_t head_dim = x.width() / heads;
  for (int64_t row = 0; row < x.rows(); ++row) {
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t i = 0; i < dim / 2; ++i) {
        const int64_t first = h * head_dim + (interleaved ? 2 * i : i);
        const int64_t second = interleaved ? first + 1 : first + dim / 2;
        const double a = x.at(row, first), b = x.at(row, second);
        const double cos = std::cos(angle(row, i)), sin = std::sin(angle(row, i));
        x.at(row, first) = a * cos - b * sin;
        x.at(row, second) = b * cos + a * sin;
      }
    }
  }
  return x;
}

// The angle of rows that are positions 0, 1, ... of each batch.
inline std::function<double(int64_t, int64_t)> angles(int64_t length, int64_t dim, double theta) {
  return [=](int64_t row, int64_t pair) {
    return static_cast<double>(row % length) *
           std::pow(theta, -2.0 * static_cast<double>(pair) / static_cast<double>(dim));
  };
}

}  // namespace tenon::naive
