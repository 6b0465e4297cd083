// Evaluation of convolutions: the taps of each window stand in a column, and a matrix product with
// the weights sums them; the transpose spreads such columns again. Floats in f64, rounded once;
// integers wrap.
#include "base/error.h"
#include "graph/product.h"
#include "graph/windows.h"

namespace tenon::graph::evaluators {

namespace {

constexpr int64_t kChunk = 2048;  // windows at a time: bounds the memory of their columns

struct Groups {
  size_t batch, count, in, out;  // channels of one group
};

template <typename T>
struct Arrays {
  std::vector<T> x, w, result;
};

// The result starts as the bias.
template <typename T>
std::vector<T> biased(size_t batch, size_t channels, size_t plane, const std::vector<T>& bias) {
  std::vector<T> result(batch * channels * plane);
  if (bias.empty()) return result;
  for (size_t i = 0; i < result.size(); ++i) result[i] = bias[i / plane % channels];
  return result;
}

// The taps of `count` windows of some channels: [channel, tap][window].
template <typename T>
void gather_columns(const T* x, size_t channels, size_t plane, std::span<const int64_t> offsets,
                    std::vector<T>& columns) {
  columns.resize(channels * offsets.size());
  for (size_t c = 0; c < channels; ++c) {
    T* const to = columns.data() + c * offsets.size();
    for (size_t i = 0; i < offsets.size(); ++i) {
      to[i] = offsets[i] < 0 ? T{0} : x[c * plane + static_cast<size_t>(offsets[i])];
    }
  }
}

template <typename T>
void convolve(const Windows& windows, const Groups& g, Arrays<T>& a) {
  const auto plane = static_cast<size_t>(element_count(windows.image));
  const auto positions = static_cast<size_t>(windows.positions());
  const size_t depth = g.in * static_cast<size_t>(windows.taps());
  std::vector<T> columns, sums;
  for (size_t first = 0; first < positions; first += kChunk) {
    const size_t count = std::min<size_t>(kChunk, positions - first);
    const std::vector<int64_t> offsets =
        windows.offsets(static_cast<int64_t>(first), static_cast<int64_t>(count));
    for (size_t i = 0; i < g.batch * g.count; ++i) {
      gather_columns(a.x.data() + i * g.in * plane, g.in, plane, offsets, columns);
      sums.assign(g.out * count, T{0});
      add_product(a.w.data() + i % g.count * g.out * depth, columns.data(), sums.data(), g.out,
                  count, depth);
      for (size_t row = 0; row < g.out; ++row) {
        T* const to = a.result.data() + (i * g.out + row) * positions + first;
        for (size_t j = 0; j < count; ++j) to[j] += sums[row * count + j];
      }
    }
  }
}

// Weights of one group, [in][out, tap], as the rows [out, tap][in] that give columns from x.
template <typename T>
std::vector<T> transposed(const T* w, size_t rows, size_t columns) {
  std::vector<T> result(rows * columns);
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < columns; ++j) result[j * rows + i] = w[i * columns + j];
  }
  return result;
}

// Here the windows lie over the result, one for each element of x.
template <typename T>
void spread(const Windows& windows, const Groups& g, Arrays<T>& a) {
  const auto plane = static_cast<size_t>(element_count(windows.image));
  const auto positions = static_cast<size_t>(windows.positions());
  const auto taps = static_cast<size_t>(windows.taps());
  const std::vector<int64_t> offsets = windows.offsets(0, windows.positions());
  for (size_t i = 0; i < g.batch * g.count; ++i) {
    const std::vector<T> w =
        transposed(a.w.data() + i % g.count * g.in * g.out * taps, g.in, g.out * taps);
    std::vector<T> columns(g.out * taps * positions);
    add_product(w.data(), a.x.data() + i * g.in * positions, columns.data(), g.out * taps,
                positions, g.in);
    for (size_t c = 0; c < g.out; ++c) {
      T* const to = a.result.data() + (i * g.out + c) * plane;
      for (size_t k = 0; k < offsets.size(); ++k) {
        if (offsets[k] >= 0) to[offsets[k]] += columns[c * offsets.size() + k];
      }
    }
  }
}

template <typename T, typename Decode>
std::vector<T> run(const Evaluation& e, const Windows& windows, const Groups& g, Decode decode) {
  const bool transpose = e.node.op() == Op::ConvTranspose;
  const int64_t plane = transpose ? element_count(windows.image) : windows.positions();
  const std::vector<T> bias = e.operands.size() > 2 ? decode(e.operand(2)) : std::vector<T>{};
  Arrays<T> a{decode(e.operand(0)), decode(e.operand(1)),
              biased(g.batch, g.count * g.out, static_cast<size_t>(plane), bias)};
  if (transpose) {
    spread(windows, g, a);
  } else {
    convolve(windows, g, a);
  }
  return std::move(a.result);
}

Results finish(const Evaluation& e, const Windows& windows, const Groups& g, Extents shape) {
  if (is_float(e.dtype())) {
    return {from_doubles(e.dtype(), std::move(shape), run<double>(e, windows, g, to_doubles))};
  }
  return {from_patterns(e.dtype(), std::move(shape), run<uint64_t>(e, windows, g, to_patterns))};
}

// Symbolic extents met the rule; here they have values. `out` and `in` count all groups.
Groups groups_of(const Evaluation& e, int64_t in, int64_t out) {
  const Tensor& x = e.operand(0);
  const int64_t groups = e.attributes().integer("groups");
  if (in != x.shape[1] || out % groups != 0 || in % groups != 0) {
    throw user_error("[{}] {} channels do not fit weights [{}] in {} groups",
                     info(e.node.op()).text, x.shape[1], fmt::join(e.operand(1).shape, ", "),
                     groups);
  }
  if (e.operands.size() > 2 && e.operand(2).shape != Extents{out}) {
    throw user_error("[{}] the bias has not {} elements", info(e.node.op()).text, out);
  }
  return {static_cast<size_t>(x.shape[0]), static_cast<size_t>(groups),
          static_cast<size_t>(in / groups), static_cast<size_t>(out / groups)};
}

}  // namespace

Results conv(const Evaluation& e) {
  const Tensor &x = e.operand(0), &w = e.operand(1);
  const Windows windows = windows_of(e, spatial(w));
  const int64_t groups = e.attributes().integer("groups");
  const Groups g = groups_of(e, w.shape[1] * groups, w.shape[0]);
  Extents shape = with_spatial(x, windows.result);
  shape[1] = w.shape[0];
  return finish(e, windows, g, std::move(shape));
}

Results conv_transpose(const Evaluation& e) {
  const Tensor &x = e.operand(0), &w = e.operand(1);
  Windows windows = windows_of(e, spatial(w));
  std::swap(windows.image, windows.result);  // of the convolution that this one reverses
  const int64_t groups = e.attributes().integer("groups");
  const Groups g = groups_of(e, w.shape[0], w.shape[1] * groups);
  Extents shape = with_spatial(x, windows.image);
  shape[1] = w.shape[1] * groups;
  return finish(e, windows, g, std::move(shape));
}

}  // namespace tenon::graph::evaluators
