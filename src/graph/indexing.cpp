// Reading axes, counts and sort keys out of tensors.
#include "graph/indexing.h"

#include <algorithm>
#include <limits>

namespace tenon::graph {

Extents axes_from(const Evaluation& e, int operand, int64_t rank) {
  Extents axes = to_integers(e.operand(operand));
  std::vector<bool> named(static_cast<size_t>(rank));
  for (int64_t& axis : axes) {
    if (axis < -rank || axis >= rank) {
      throw user_error("[{}] axis {} is out of range for rank {}", info(e.node.op()).text, axis,
                       rank);
    }
    if (axis < 0) axis += rank;
    if (named[static_cast<size_t>(axis)]) {
      throw user_error("[{}] axis {} is named twice", info(e.node.op()).text, axis);
    }
    named[static_cast<size_t>(axis)] = true;
  }
  return axes;
}

int64_t integer_from(const Evaluation& e, int operand, std::string_view what) {
  const std::vector<int64_t> values = to_integers(e.operand(operand));
  if (values.size() == 1) return values[0];
  throw user_error("[{}] {} must be one number, not {}", info(e.node.op()).text, what,
                   values.size());
}

Keys sort_keys(const Tensor& tensor) {
  if (is_float(tensor.dtype)) return to_doubles(tensor);
  std::vector<int64_t> keys = to_integers(tensor);
  if (tensor.dtype == DType::U64) {
    for (int64_t& key : keys) key ^= std::numeric_limits<int64_t>::min();
  }
  return keys;
}

}  // namespace tenon::graph
