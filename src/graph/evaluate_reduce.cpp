// Evaluation of reductions and of the row ops built on them: softmax and layer_norm. Sums are in
// f64.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph::evaluators {

namespace {

double combine(Op op, double a, double b) {
  if (op == Op::ReduceMax) return std::isnan(a) || a > b ? a : b;
  if (op == Op::ReduceMin) return std::isnan(a) || a < b ? a : b;
  return a + b;
}

int64_t combine(Op op, DType dtype, int64_t a, int64_t b) {
  const bool less =
      dtype == DType::U64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  if (op == Op::ReduceMax) return less ? b : a;
  if (op == Op::ReduceMin) return less ? a : b;
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

// What a reduction over no elements gives.
double float_identity(Op op) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  return op == Op::ReduceMax ? -kInf : op == Op::ReduceMin ? kInf : 0;
}

int64_t integer_identity(Op op, DType dtype) {
  if (op == Op::ReduceSum) return 0;
  const int width = info(dtype).bits;
  const bool is_signed = info(dtype).kind == DTypeKind::Signed;
  const int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - width);  // of signed ones
  if (op == Op::ReduceMax) return is_signed ? -largest - 1 : 0;
  return is_signed ? largest : static_cast<int64_t>(~uint64_t{0} >> (64 - width));
}

template <typename T, typename Combine>
std::vector<T> reduced(const std::vector<T>& values, std::span<const int64_t> to, size_t count,
                       T identity, Combine f) {
  std::vector<T> result(count, identity);
  for (size_t i = 0; i < values.size(); ++i) {
    T& slot = result[static_cast<size_t>(to[i])];
    slot = f(slot, values[i]);
  }
  return result;
}

}  // namespace

Results reduce(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Op op = e.node.op();
  Extents shape = x.shape;
  int64_t group = 1;
  for (const int64_t axis : e.attributes().integers("axes")) {
    group *= shape[static_cast<size_t>(axis)];
    shape[static_cast<size_t>(axis)] = 1;
  }
  Extents strides = row_major_strides(shape);
  for (const int64_t axis : e.attributes().integers("axes")) strides[static_cast<size_t>(axis)] = 0;
  const std::vector<int64_t> to = offsets(x.shape, strides);
  const auto count = static_cast<size_t>(element_count(shape));
  if (!is_float(x.dtype)) {
    const auto f = [&](int64_t a, int64_t b) { return combine(op, x.dtype, a, b); };
    std::vector<int64_t> sums =
        reduced(to_integers(x), to, count, integer_identity(op, x.dtype), f);
    if (info(x.dtype).bits < 64 && op == Op::ReduceSum) {  // wraps to the width
      const int shift = 64 - info(x.dtype).bits;
      for (int64_t& sum : sums) {
        const uint64_t high = static_cast<uint64_t>(sum) << shift;
        sum = info(x.dtype).kind == DTypeKind::Signed ? static_cast<int64_t>(high) >> shift
                                                      : static_cast<int64_t>(high >> shift);
      }
    }
    return {from_integers(x.dtype, shape, sums)};
  }
  const auto f = [&](double a, double b) { return combine(op, a, b); };
  std::vector<double> sums = reduced(to_doubles(x), to, count, float_identity(op), f);
  if (op == Op::ReduceMean) {
    for (double& sum : sums) sum /= static_cast<double>(group);
  }
  return {from_doubles(x.dtype, shape, sums)};
}

Results softmax(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  const auto length = static_cast<size_t>(x.shape[axis]);
  const auto inner = static_cast<size_t>(element_count(std::span(x.shape).subspan(axis + 1)));
  std::vector<double> values = to_doubles(x);
  for (size_t row = 0; length > 0 && row < values.size() / length; ++row) {
    double* first = values.data() + row / inner * length * inner + row % inner;
    double largest = float_identity(Op::ReduceMax), sum = 0;
    for (size_t i = 0; i < length; ++i) {
      largest = combine(Op::ReduceMax, largest, first[i * inner]);
    }
    for (size_t i = 0; i < length; ++i) {
      sum += first[i * inner] = std::exp(first[i * inner] - largest);
    }
    for (size_t i = 0; i < length; ++i) first[i * inner] /= sum;
  }
  return {from_doubles(x.dtype, x.shape, values)};
}

Results layer_norm(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const std::vector<double> scale = to_doubles(e.operand(1)), bias = to_doubles(e.operand(2));
  const double epsilon = e.attributes().number("epsilon");
  const auto length = static_cast<size_t>(x.shape.back());
  if (scale.size() != length || bias.size() != length) {
    throw user_error("[layer_norm] scale and bias do not fit the last extent {}", length);
  }
  std::vector<double> values = to_doubles(x);
  for (size_t at = 0; at < values.size(); at += length) {
    const std::span<double> row(values.data() + at, length);
    double mean = 0, variance = 0;
    for (const double v : row) mean += v;
    mean /= static_cast<double>(length);
    for (const double v : row) variance += (v - mean) * (v - mean);
    variance /= static_cast<double>(length);
    const double factor = 1 / std::sqrt(variance + epsilon);
    for (size_t i = 0; i < length; ++i) row[i] = (row[i] - mean) * factor * scale[i] + bias[i];
  }
  return {from_doubles(x.dtype, x.shape, values)};
}

}  // namespace tenon::graph::evaluators
