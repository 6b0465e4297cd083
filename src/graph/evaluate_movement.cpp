// Evaluation of leaves and of the ops that move elements. Each computes where every result element
// comes from, checks that it lies inside, and copies; so the same code also carries shape values,
// whose elements are Dims.
#include <algorithm>
#include <cstring>

#include "graph/indexing.h"

namespace tenon::graph::evaluators {

Results leaf(const Evaluation& e) {
  if (e.node.op() == Op::Constant) {
    Tensor tensor = make_tensor(e.dtype(), e.values_of(e.node.types()[0].shape.dims()));
    std::ranges::copy(e.node.bytes(), tensor.bytes.begin());
    return {std::move(tensor)};
  }
  if (e.node.op() == Op::Dims) {
    const Extents values = e.values_of(e.attributes().dims("values"));
    return {from_integers(DType::I64, e.values_of(e.node.types()[0].shape.dims()), values)};
  }
  throw internal_error("[{}] \"{}\" has no value", info(e.node.op()).text, e.node.name());
}

Results reshape(const Evaluation& e) {
  Tensor result = e.operand(0);
  result.shape = e.values_of(e.attributes().dims("shape"));
  if (result.elements() != e.operand(0).elements()) {
    throw user_error("[reshape] element counts differ: [{}] to [{}]",
                     fmt::join(e.operand(0).shape, ", "), fmt::join(result.shape, ", "));
  }
  return {std::move(result)};
}

Results transpose(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Extents natural = row_major_strides(x.shape);
  Extents shape, strides;
  for (const int64_t axis : e.attributes().integers("perm")) {
    shape.push_back(x.shape[static_cast<size_t>(axis)]);
    strides.push_back(natural[static_cast<size_t>(axis)]);
  }
  const std::vector<int64_t> at = offsets(shape, strides);
  return {pick(x, std::move(shape), at)};
}

Results expand(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  Extents shape = e.values_of(e.attributes().dims("shape"));
  if (broadcast_extents(Op::Expand, x.shape, shape) != shape) {
    throw user_error("[expand] [{}] does not spread to [{}]", fmt::join(x.shape, ", "),
                     fmt::join(shape, ", "));
  }
  const std::vector<int64_t> at = spread_offsets(x.shape, shape);
  return {pick(x, std::move(shape), at)};
}

Results slice(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const Extents starts = e.values_of(e.attributes().dims("starts"));
  Extents shape = e.values_of(e.attributes().dims("extents"));
  Extents strides = row_major_strides(x.shape);
  int64_t start = 0;
  const bool empty = element_count(shape) == 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    const int64_t step = e.attributes().integers("steps")[i];
    const int64_t last = starts[i] + (shape[i] - 1) * step;
    if (!empty && (std::min(starts[i], last) < 0 || std::max(starts[i], last) >= x.shape[i])) {
      throw user_error("[slice] {}..{} leaves axis {} of [{}]", starts[i], last, i,
                       fmt::join(x.shape, ", "));
    }
    start += starts[i] * strides[i];
    strides[i] *= step;
  }
  const std::vector<int64_t> at = offsets(shape, strides, start);
  return {pick(x, std::move(shape), at)};
}

Results concat(const Evaluation& e) {
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  Extents shape = e.operand(0).shape;
  shape[axis] = 0;
  for (const Tensor* part : e.operands) {
    Extents expected = shape;
    expected[axis] = part->shape[axis];
    if (part->shape != expected) {
      throw user_error("[concat] extents differ: [{}] and [{}]", fmt::join(part->shape, ", "),
                       fmt::join(expected, ", "));
    }
    shape[axis] += part->shape[axis];
  }
  Tensor result = make_tensor(e.dtype(), shape);
  const int64_t outer = element_count(std::span(shape).first(axis));
  const int64_t inner = element_count(std::span(shape).subspan(axis + 1)) * size_of(e.dtype());
  std::byte* to = result.bytes.data();
  for (int64_t i = 0; i < outer; ++i) {
    for (const Tensor* part : e.operands) {
      const int64_t block = part->shape[axis] * inner;
      if (block > 0) std::memcpy(to, part->bytes.data() + i * block, static_cast<size_t>(block));
      to += block;
    }
  }
  return {std::move(result)};
}

Results split(const Evaluation& e) {
  const Tensor& x = e.operand(0);
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  const Extents strides = row_major_strides(x.shape);
  Results results;
  int64_t start = 0;
  const Extents extents = e.operands.size() > 1 ? to_integers(e.operand(1))
                                                : e.values_of(e.attributes().dims("extents"));
  for (const int64_t extent : extents) {
    Extents shape = x.shape;
    shape[axis] = extent;
    if (extent < 0 || extent > x.shape[axis] - start) {
      throw user_error("[split] the parts exceed axis {} of [{}]", axis, fmt::join(x.shape, ", "));
    }
    const std::vector<int64_t> at = offsets(shape, strides, start * strides[axis]);
    results.push_back(pick(x, std::move(shape), at));
    start += extent;
  }
  if (start != x.shape[axis]) {
    throw user_error("[split] the parts are {} of axis {} of [{}]", start, axis,
                     fmt::join(x.shape, ", "));
  }
  return results;
}

Results gather(const Evaluation& e) {
  const Tensor &data = e.operand(0), &indices = e.operand(1);
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  Extents shape(data.shape.begin(), data.shape.begin() + static_cast<int64_t>(axis));
  shape.insert(shape.end(), indices.shape.begin(), indices.shape.end());
  shape.insert(shape.end(), data.shape.begin() + static_cast<int64_t>(axis) + 1, data.shape.end());
  const int64_t outer = element_count(std::span(data.shape).first(axis));
  const int64_t inner = element_count(std::span(data.shape).subspan(axis + 1));
  const int64_t whole = data.shape[axis];
  std::vector<int64_t> at;
  at.reserve(static_cast<size_t>(element_count(shape)));
  const std::vector<int64_t> index = to_integers(indices);
  for (int64_t o = 0; o < outer; ++o) {
    for (const int64_t i : index) {
      const int64_t row = (o * whole + wrap_index(Op::Gather, i, data.shape, axis)) * inner;
      for (int64_t k = 0; k < inner; ++k) at.push_back(row + k);
    }
  }
  return {pick(data, std::move(shape), at)};
}

}  // namespace tenon::graph::evaluators
