// What the evaluators that index by data share: an index that must lie inside, an axis with what is
// around it, and elements as keys that sort as the dtype does.
#pragma once

#include <cmath>
#include <variant>

#include "base/error.h"
#include "graph/evaluate.h"

namespace tenon::graph {

// A tensor seen as [outer, extent, inner] around an axis.
struct AroundAxis {
  int64_t outer, extent, inner;

  AroundAxis(std::span<const int64_t> shape, size_t axis)
      : outer(element_count(shape.first(axis))),
        extent(shape[axis]),
        inner(element_count(shape.subspan(axis + 1))) {}
  int64_t offset(int64_t o, int64_t at, int64_t i) const { return (o * extent + at) * inner + i; }
};

// `index` on an axis, counted from the front; a negative one counts from the end.
inline int64_t wrap_index(Op op, int64_t index, std::span<const int64_t> shape, size_t axis) {
  const int64_t extent = shape[axis];
  if (index < -extent || index >= extent) {
    throw user_error("[{}] index {} is outside axis {} of [{}]", info(op).text, index, axis,
                     fmt::join(shape, ", "));
  }
  return index < 0 ? index + extent : index;
}

// The axes that an operand names, counted from the front; one that is named twice is an error.
Extents axes_from(const Evaluation& e, int operand, int64_t rank);

// The only element of an integer operand.
int64_t integer_from(const Evaluation& e, int operand, std::string_view what);

// Elements as numbers that compare as the dtype says: integers as i64 (u64 with the top bit
// flipped), floats as f64.
using Keys = std::variant<std::vector<int64_t>, std::vector<double>>;
Keys sort_keys(const Tensor& tensor);

// NaN is more than everything else, and equal to itself: a total order.
inline bool key_less(int64_t a, int64_t b) { return a < b; }
inline bool key_less(double a, double b) {
  return std::isnan(b) ? !std::isnan(a) : a < b;  // false where only a is NaN
}

}  // namespace tenon::graph
