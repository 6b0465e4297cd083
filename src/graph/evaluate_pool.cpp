// Evaluation of pools: a maximum with its place, averages and p-norms over windows, and the
// reverse of a maximum. A NaN in a window is its maximum, as in NumPy.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/windows.h"

namespace tenon::graph::evaluators {

namespace {

bool larger(double a, double b) { return a > b || (std::isnan(a) && !std::isnan(b)); }
bool larger(int64_t a, int64_t b) { return a > b; }

// The offset of the largest element of each window, -1 where no tap is inside: [plane][position].
template <typename T>
std::vector<int64_t> largest(const std::vector<T>& x, const Windows& windows, int64_t planes) {
  const std::vector<int64_t> taps = windows.offsets(0, windows.positions());
  const int64_t positions = windows.positions(), size = element_count(windows.image);
  std::vector<int64_t> found(static_cast<size_t>(planes * positions), -1);
  for (int64_t i = 0; i < planes; ++i) {
    for (size_t k = 0; k < taps.size(); ++k) {
      if (taps[k] < 0) continue;
      int64_t& best =
          found[static_cast<size_t>(i * positions + static_cast<int64_t>(k) % positions)];
      const int64_t at = i * size + taps[k];
      if (best < 0 || larger(x[static_cast<size_t>(at)], x[static_cast<size_t>(best)])) best = at;
    }
  }
  return found;
}

// The same element where the spatial axes are counted in reverse.
int64_t column_major(int64_t offset, std::span<const int64_t> image) {
  const int64_t size = element_count(image);
  int64_t rest = offset % size, result = 0, stride = size;
  for (size_t i = image.size(); i-- > 0;) {
    stride /= image[i];
    result += rest % image[i] * stride;
    rest /= image[i];
  }
  return offset - offset % size + result;
}

double lowest(DType dtype) {
  if (is_float(dtype)) return -std::numeric_limits<double>::infinity();
  return info(dtype).kind == DTypeKind::Signed ? -std::ldexp(1.0, info(dtype).bits - 1) : 0.0;
}

// Calls f(result element, x element) for each tap inside.
template <typename F>
void for_each_tap(const Windows& windows, int64_t planes, F f) {
  const std::vector<int64_t> taps = windows.offsets(0, windows.positions());
  const int64_t positions = windows.positions(), size = element_count(windows.image);
  for (int64_t i = 0; i < planes; ++i) {
    for (size_t k = 0; k < taps.size(); ++k) {
      if (taps[k] < 0) continue;
      f(static_cast<size_t>(i * positions + static_cast<int64_t>(k) % positions),
        static_cast<size_t>(i * size + taps[k]));
    }
  }
}

// How many taps of the window at `position` count: those before `ends`, or those in the image.
std::vector<int64_t> counts(const Evaluation& e, const Windows& windows) {
  Windows padded = windows;
  if (e.attributes().find("ends") != nullptr) {
    const Extents ends = e.values_of(e.attributes().dims("ends"));
    for (size_t i = 0; i < ends.size(); ++i) {
      padded.image[i] = std::max<int64_t>(0, padded.image[i] + padded.begins[i] + ends[i]);
      padded.begins[i] = 0;
    }
  }
  std::vector<int64_t> result(static_cast<size_t>(windows.positions()), 0);
  for_each_tap(padded, 1, [&](size_t to, size_t) { ++result[to]; });
  return result;
}

}  // namespace

Results max_pool(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Windows windows = windows_of(e, e.attributes().integers("kernel"));
  std::vector<int64_t> at = is_float(x.dtype) ? largest(to_doubles(x), windows, planes(x))
                                              : largest(to_integers(x), windows, planes(x));
  Tensor values = make_tensor(x.dtype, with_spatial(x, windows.result));
  const auto size = static_cast<size_t>(size_of(x.dtype));
  for (size_t i = 0; i < at.size(); ++i) {
    std::byte* const to = values.bytes.data() + i * size;
    if (at[i] < 0) {
      store_from_f64(x.dtype, to, lowest(x.dtype));
    } else {
      std::copy_n(x.bytes.data() + static_cast<size_t>(at[i]) * size, size, to);
    }
  }
  if (e.attributes().integer("column_major") != 0) {
    for (int64_t& offset : at) offset = offset < 0 ? -1 : column_major(offset, spatial(x));
  }
  Tensor indices = from_integers(DType::I64, values.shape, at);
  return {std::move(values), std::move(indices)};
}

Results average_pool(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Windows windows = windows_of(e, e.attributes().integers("kernel"));
  Extents shape = with_spatial(x, windows.result);
  const std::vector<double> values = to_doubles(x);
  std::vector<double> sums(static_cast<size_t>(element_count(shape)));
  for_each_tap(windows, planes(x), [&](size_t to, size_t from) { sums[to] += values[from]; });
  const std::vector<int64_t> divisors = counts(e, windows);
  for (size_t i = 0; i < sums.size(); ++i) {  // a window of padding alone gives 0
    sums[i] /= static_cast<double>(std::max<int64_t>(1, divisors[i % divisors.size()]));
  }
  return {from_doubles(x.dtype, std::move(shape), sums)};
}

Results lp_pool(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Windows windows = windows_of(e, e.attributes().integers("kernel"));
  const double p = e.attributes().number("p");
  Extents shape = with_spatial(x, windows.result);
  const std::vector<double> values = to_doubles(x);
  std::vector<double> sums(static_cast<size_t>(element_count(shape)));
  for_each_tap(windows, planes(x),
               [&](size_t to, size_t from) { sums[to] += std::pow(std::abs(values[from]), p); });
  for (double& sum : sums) sum = std::pow(sum, 1 / p);
  return {from_doubles(x.dtype, std::move(shape), sums)};
}

Results max_unpool(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const std::vector<int64_t> at = to_integers(e.operand(1));
  const Extents inner = e.values_of(e.attributes().dims("inner"));
  const Extents outer =
      e.operands.size() > 2 ? to_integers(e.operand(2)) : e.values_of(e.attributes().dims("shape"));
  for (size_t i = 0; i < outer.size(); ++i) {
    if (outer[i] < inner[i]) {
      throw user_error("[max_unpool] the shape [{}] is smaller than [{}]", fmt::join(outer, ", "),
                       fmt::join(inner, ", "));
    }
  }
  Tensor result = make_tensor(x.dtype, outer);
  const std::vector<int64_t> places = offsets(inner, row_major_strides(outer));
  const auto size = static_cast<size_t>(size_of(x.dtype));
  if (at.size() != static_cast<size_t>(x.elements())) {
    throw user_error("[max_unpool] {} indices for {} elements", at.size(), x.elements());
  }
  for (size_t i = 0; i < at.size(); ++i) {
    if (at[i] < 0 || at[i] >= static_cast<int64_t>(places.size())) {
      throw user_error("[max_unpool] index {} is outside [{}]", at[i], fmt::join(inner, ", "));
    }
    const auto to = static_cast<size_t>(places[static_cast<size_t>(at[i])]);
    std::copy_n(x.bytes.data() + i * size, size, result.bytes.data() + to * size);
  }
  return {std::move(result)};
}

}  // namespace tenon::graph::evaluators
