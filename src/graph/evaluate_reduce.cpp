// Evaluation of reductions and of the row ops built on them: softmax and the norms. Sums are in
// f64.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "graph/evaluate.h"
#include "graph/scalar_math.h"

namespace tenon::graph::evaluators {

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

// The elementwise op that joins two elements.
Op combiner(Op reduction) {
  switch (reduction) {
    case Op::ReduceMax:
      return Op::Max;
    case Op::ReduceMin:
      return Op::Min;
    case Op::ReduceProd:
      return Op::Mul;
    default:
      return Op::Add;
  }
}

// What a reduction over no elements gives.
double float_identity(Op combine) {
  return combine == Op::Max ? -kInf : combine == Op::Min ? kInf : combine == Op::Mul ? 1 : 0;
}

int64_t integer_identity(Op combine, DType dtype) {
  if (combine == Op::Add || combine == Op::Mul) return combine == Op::Mul ? 1 : 0;
  const int width = info(dtype).bits;
  const bool is_signed = info(dtype).kind == DTypeKind::Signed;
  const int64_t largest = std::numeric_limits<int64_t>::max() >> (64 - width);  // of signed ones
  if (combine == Op::Max) return is_signed ? -largest - 1 : 0;
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

// The reduced axes stay, with extent 1.
Tensor reduce_tensor(Op op, const Tensor& x, std::span<const int64_t> axes) {
  Extents shape = x.shape;
  int64_t group = 1;
  for (const int64_t axis : axes) {
    group *= shape[static_cast<size_t>(axis)];
    shape[static_cast<size_t>(axis)] = 1;
  }
  Extents strides = row_major_strides(shape);
  for (const int64_t axis : axes) strides[static_cast<size_t>(axis)] = 0;
  const std::vector<int64_t> to = offsets(x.shape, strides);
  const auto count = static_cast<size_t>(element_count(shape));
  const Op combine = combiner(op);
  if (!is_float(x.dtype)) {
    const auto f = [&](int64_t a, int64_t b) { return integer_binary(combine, x.dtype, a, b); };
    std::vector<int64_t> sums =
        reduced(to_integers(x), to, count, integer_identity(combine, x.dtype), f);
    for (int64_t& sum : sums) sum = wrap_to(x.dtype, sum);
    return from_integers(x.dtype, shape, sums);
  }
  const auto f = [&](double a, double b) { return float_binary(combine, a, b); };
  std::vector<double> sums = reduced(to_doubles(x), to, count, float_identity(combine), f);
  if (op == Op::ReduceMean) {
    for (double& sum : sums) sum /= static_cast<double>(group);
  }
  return from_doubles(x.dtype, shape, sums);
}

// Axes that are data: wrapped, checked, each once; none are all.
std::vector<int64_t> checked_axes(const Tensor& axes, size_t rank) {
  std::vector<int64_t> result = to_integers(axes);
  for (int64_t& axis : result) {
    const auto limit = static_cast<int64_t>(rank);
    if (axis < -limit || axis >= limit) {
      throw user_error("[reduce_over] axis {} is out of range for rank {}", axis, rank);
    }
    if (axis < 0) axis += limit;
  }
  std::sort(result.begin(), result.end());
  if (std::adjacent_find(result.begin(), result.end()) != result.end()) {
    throw user_error("[reduce_over] an axis is named twice: [{}]", fmt::join(result, ", "));
  }
  for (size_t i = 0; i < rank && axes.elements() == 0; ++i) {
    result.push_back(static_cast<int64_t>(i));
  }
  return result;
}

}  // namespace

Results reduce(const Evaluation& e) {
  return {reduce_tensor(e.node.op(), e.operand(0), e.attributes().integers("axes"))};
}

Results reduce_over(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const std::vector<int64_t> axes = checked_axes(e.operand(1), x.shape.size());
  Tensor result = reduce_tensor(*parse_op(e.attributes().text("op")), x, axes);
  if (e.attributes().integer("keep") != 0) return {std::move(result)};
  for (size_t i = axes.size(); i-- > 0;) result.shape.erase(result.shape.begin() + axes[i]);
  if (result.shape.size() != e.attributes().dims("shape").size()) {
    throw user_error("[reduce_over] {} axes do not give the rank of the result", axes.size());
  }
  return {std::move(result)};
}

Results softmax(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  const auto length = static_cast<size_t>(x.shape[axis]);
  const auto inner = static_cast<size_t>(element_count(std::span(x.shape).subspan(axis + 1)));
  std::vector<double> values = to_doubles(x);
  for (size_t row = 0; length > 0 && row < values.size() / length; ++row) {
    double* first = values.data() + row / inner * length * inner + row % inner;
    double largest = -kInf, sum = 0;
    for (size_t i = 0; i < length; ++i) {
      largest = float_binary(Op::Max, largest, first[i * inner]);
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

Results rms_norm(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const std::vector<double> scale = to_doubles(e.operand(1));
  const double epsilon = e.attributes().number("epsilon");
  const auto length = static_cast<size_t>(x.shape.back());
  if (scale.size() != length) {
    throw user_error("[rms_norm] scale has {} elements, not {}", scale.size(), length);
  }
  std::vector<double> values = to_doubles(x);
  for (size_t at = 0; at < values.size(); at += length) {
    const std::span<double> row(values.data() + at, length);
    double squares = 0;
    for (const double v : row) squares += v * v;
    const double factor = 1 / std::sqrt(squares / static_cast<double>(length) + epsilon);
    for (size_t i = 0; i < length; ++i) row[i] = row[i] * factor * scale[i];
  }
  return {from_doubles(x.dtype, x.shape, values)};
}

}  // namespace tenon::graph::evaluators
