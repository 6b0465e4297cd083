// Evaluation of gather and scatter by element and by position. Each first computes the offset in
// `data` of every element that is read or written; reading is then a pick, writing a loop in order.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "graph/indexing.h"

namespace tenon::graph::evaluators {

namespace {

// Offsets in `data` of the elements that `indices` name along `axis`, one for each index.
std::vector<int64_t> element_offsets(const Evaluation& e, const Tensor& data,
                                     const Tensor& indices) {
  const auto axis = static_cast<size_t>(e.attributes().integer("axis"));
  for (size_t i = 0; i < data.shape.size(); ++i) {
    if (i == axis || indices.shape[i] <= data.shape[i]) continue;
    throw user_error("[{}] the indices [{}] leave axis {} of [{}]", info(e.node.op()).text,
                     fmt::join(indices.shape, ", "), i, fmt::join(data.shape, ", "));
  }
  Extents strides = row_major_strides(data.shape);
  const int64_t stride = strides[axis];
  strides[axis] = 0;
  std::vector<int64_t> at = offsets(indices.shape, strides);
  const std::vector<int64_t> index = to_integers(indices);
  for (size_t i = 0; i < at.size(); ++i) {
    at[i] += wrap_index(e.node.op(), index[i], data.shape, axis) * stride;
  }
  return at;
}

// The last axis of `indices` names positions on the axes of `data` from `batch` on; each position
// is a block of `inner` elements.
struct Positions {
  std::vector<int64_t> starts;
  int64_t inner;
};

Positions positions_of(const Evaluation& e, const Tensor& data, const Tensor& indices,
                       size_t batch) {
  const auto named = static_cast<size_t>(indices.shape.back());
  const Extents strides = row_major_strides(data.shape);
  const int64_t batches = element_count(std::span(data.shape).first(batch));
  const int64_t block = element_count(std::span(data.shape).subspan(batch));
  const int64_t count = element_count(std::span(indices.shape).first(indices.shape.size() - 1));
  const int64_t per_batch = batches == 0 ? 0 : count / batches;
  const std::vector<int64_t> index = to_integers(indices);
  Positions result{{}, element_count(std::span(data.shape).subspan(batch + named))};
  for (int64_t i = 0; i < count; ++i) {
    int64_t start = per_batch == 0 ? 0 : i / per_batch * block;
    for (size_t k = 0; k < named; ++k) {
      const int64_t at = index[static_cast<size_t>(i) * named + k];
      const size_t axis = batch + k;
      start += wrap_index(e.node.op(), at, data.shape, axis) * strides[axis];
    }
    result.starts.push_back(start);
  }
  return result;
}

std::vector<int64_t> element_offsets(const Positions& positions) {
  std::vector<int64_t> at;
  at.reserve(positions.starts.size() * static_cast<size_t>(positions.inner));
  for (const int64_t start : positions.starts) {
    for (int64_t i = 0; i < positions.inner; ++i) at.push_back(start + i);
  }
  return at;
}

double combine(std::string_view reduction, double a, double b) {
  if (reduction == "add") return a + b;
  if (reduction == "mul") return a * b;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  return reduction == "min" ? std::min(a, b) : std::max(a, b);
}

int64_t combine(std::string_view reduction, int64_t a, int64_t b, bool is_unsigned) {
  const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
  if (reduction == "add") return static_cast<int64_t>(x + y);
  if (reduction == "mul") return static_cast<int64_t>(x * y);
  const bool less = is_unsigned ? x < y : a < b;
  return (reduction == "min") == less ? a : b;
}

// Writes `updates`, in order, to these elements of `data`.
Tensor scatter(const Evaluation& e, std::span<const int64_t> at) {
  const Tensor &data = e.operand(0), &updates = e.operand(2);
  const std::string& reduction = e.attributes().text("reduction");
  if (updates.elements() != static_cast<int64_t>(at.size())) {
    throw user_error("[{}] {} elements for {} places", info(e.node.op()).text, updates.elements(),
                     at.size());
  }
  if (reduction == "none") {
    Tensor result = data;
    const auto size = static_cast<size_t>(size_of(data.dtype));
    for (size_t i = 0; i < at.size(); ++i) {
      std::memcpy(result.bytes.data() + static_cast<size_t>(at[i]) * size,
                  updates.bytes.data() + i * size, size);
    }
    return result;
  }
  if (is_float(data.dtype)) {
    std::vector<double> values = to_doubles(data);
    const std::vector<double> by = to_doubles(updates);
    for (size_t i = 0; i < at.size(); ++i) {
      double& value = values[static_cast<size_t>(at[i])];
      value = combine(reduction, value, by[i]);
    }
    return from_doubles(data.dtype, data.shape, values);
  }
  std::vector<int64_t> values = to_integers(data);
  const std::vector<int64_t> by = to_integers(updates);
  for (size_t i = 0; i < at.size(); ++i) {
    int64_t& value = values[static_cast<size_t>(at[i])];
    value = combine(reduction, value, by[i], data.dtype == DType::U64);
  }
  return from_integers(data.dtype, data.shape, values);
}

}  // namespace

Results gather_elements(const Evaluation& e) {
  const Tensor &data = e.operand(0), &indices = e.operand(1);
  return {pick(data, indices.shape, element_offsets(e, data, indices))};
}

Results gather_nd(const Evaluation& e) {
  const Tensor &data = e.operand(0), &indices = e.operand(1);
  const auto batch = static_cast<size_t>(e.attributes().integer("batch_dims"));
  if (!std::equal(data.shape.begin(), data.shape.begin() + static_cast<int64_t>(batch),
                  indices.shape.begin())) {
    throw user_error("[gather_nd] the batch axes of [{}] and [{}] differ",
                     fmt::join(data.shape, ", "), fmt::join(indices.shape, ", "));
  }
  Extents shape(indices.shape.begin(), indices.shape.end() - 1);
  shape.insert(shape.end(), data.shape.begin() + static_cast<int64_t>(batch) + indices.shape.back(),
               data.shape.end());
  return {pick(data, std::move(shape), element_offsets(positions_of(e, data, indices, batch)))};
}

Results scatter_elements(const Evaluation& e) {
  if (e.operand(1).shape != e.operand(2).shape) {
    throw user_error("[scatter_elements] [{}] indices for [{}] updates",
                     fmt::join(e.operand(1).shape, ", "), fmt::join(e.operand(2).shape, ", "));
  }
  return {scatter(e, element_offsets(e, e.operand(0), e.operand(1)))};
}

Results scatter_nd(const Evaluation& e) {
  return {scatter(e, element_offsets(positions_of(e, e.operand(0), e.operand(1), 0)))};
}

}  // namespace tenon::graph::evaluators
