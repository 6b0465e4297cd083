// Evaluation of ops along the lines of one axis that keep an order: the index of the extreme
// element, running sums and products.
#include <cmath>

#include "base/error.h"
#include "graph/evaluate.h"
#include "graph/scalar_math.h"

namespace tenon::graph::evaluators {

namespace {

// Element k of line i is at start(i) + k * step.
struct Lines {
  size_t count, length, step;
  size_t start(size_t line) const { return line / step * step * length + line % step; }
};

Lines lines_along(const Extents& shape, int64_t axis) {
  const auto length = static_cast<size_t>(shape[static_cast<size_t>(axis)]);
  const auto elements = static_cast<size_t>(element_count(shape));
  const auto step =
      static_cast<size_t>(element_count(std::span(shape).subspan(static_cast<size_t>(axis) + 1)));
  return {length == 0 ? 0 : elements / length, length, step};
}

template <typename T, typename Better>
std::vector<int64_t> extremes(const std::vector<T>& values, const Lines& lines, Better better) {
  std::vector<int64_t> result(lines.count, 0);
  for (size_t line = 0; line < lines.count; ++line) {
    size_t best = 0;
    const T* first = values.data() + lines.start(line);
    for (size_t k = 1; k < lines.length; ++k) {
      if (better(first[k * lines.step], first[best * lines.step])) best = k;
    }
    result[line] = static_cast<int64_t>(best);
  }
  return result;
}

template <typename T, typename Combine>
void run_along(std::vector<T>& values, const Lines& lines, const Attributes& attributes, T identity,
               Combine f) {
  const bool exclusive = attributes.integer("exclusive", 0) != 0;
  const bool reverse = attributes.integer("reverse", 0) != 0;
  for (size_t line = 0; line < lines.count; ++line) {
    T* first = values.data() + lines.start(line);
    T sum = identity;
    for (size_t k = 0; k < lines.length; ++k) {
      T& element = first[(reverse ? lines.length - 1 - k : k) * lines.step];
      const T next = f(sum, element);
      element = exclusive ? sum : next;
      sum = next;
    }
  }
}

int64_t axis_of(const Evaluation& e) {
  if (e.operands.size() == 1) return e.attributes().integer("axis");
  const std::vector<int64_t> given = to_integers(e.operand(1));
  const auto rank = static_cast<int64_t>(e.operand(0).shape.size());
  if (given.size() != 1 || given[0] < -rank || given[0] >= rank) {
    throw user_error("[{}] the axis [{}] is none of rank {}", info(e.node.op()).text,
                     fmt::join(given, ", "), rank);
  }
  return given[0] < 0 ? given[0] + rank : given[0];
}

}  // namespace

Results arg_reduce(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const int64_t axis = e.attributes().integer("axis");
  const Lines lines = lines_along(x.shape, axis);
  const bool last = e.attributes().integer("last", 0) != 0, largest = e.node.op() == Op::ArgMax;
  Extents shape = x.shape;
  shape[static_cast<size_t>(axis)] = 1;
  if (lines.length == 0 && element_count(shape) > 0) {
    throw user_error("[{}] there is no element to choose: [{}]", info(e.node.op()).text,
                     fmt::join(x.shape, ", "));
  }
  if (!is_float(x.dtype)) {
    const auto better = [&](int64_t a, int64_t b) {
      if (a == b) return last;
      return integer_binary(Op::Less, x.dtype, a, b) != static_cast<int64_t>(largest);
    };
    return {from_integers(DType::I64, shape, extremes(to_integers(x), lines, better))};
  }
  const auto better = [&](double a, double b) {
    if (std::isnan(b)) return last && std::isnan(a);
    if (std::isnan(a)) return true;
    return a == b ? last : (a > b) == largest;
  };
  return {from_integers(DType::I64, shape, extremes(to_doubles(x), lines, better))};
}

Results cumulate(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Lines lines = lines_along(x.shape, axis_of(e));
  const Op combine = e.node.op() == Op::CumSum ? Op::Add : Op::Mul;
  if (is_float(x.dtype)) {
    std::vector<double> values = to_doubles(x);
    run_along(values, lines, e.attributes(), combine == Op::Add ? 0.0 : 1.0,
              [&](double a, double b) { return float_binary(combine, a, b); });
    return {from_doubles(x.dtype, x.shape, values)};
  }
  std::vector<int64_t> values = to_integers(x);
  run_along(values, lines, e.attributes(), int64_t{combine == Op::Add ? 0 : 1},
            [&](int64_t a, int64_t b) { return integer_binary(combine, x.dtype, a, b); });
  for (int64_t& value : values) value = wrap_to(x.dtype, value);
  return {from_integers(x.dtype, x.shape, values)};
}

}  // namespace tenon::graph::evaluators
