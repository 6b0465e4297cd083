// Small tensors for tests of decompositions.
#pragma once

#include <algorithm>
#include <vector>

#include "graph/interpret.h"

namespace tenon::legalize {

template <typename T>
graph::Tensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<T>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return {dtype, std::move(shape), {bytes.begin(), bytes.end()}};
}

inline graph::Tensor integers(const std::vector<int64_t>& values) {
  return tensor(DType::I64, {static_cast<int64_t>(values.size())}, values);
}

inline graph::Tensor integer(int64_t value) {
  return tensor(DType::I64, {}, std::vector<int64_t>{value});
}

// 0.5, 1.5, ... with signs that alternate.
inline graph::Tensor floats(std::vector<int64_t> shape) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) {
    values.push_back((static_cast<float>(i) + 0.5F) * (i % 3 == 1 ? -1.0F : 1.0F));
  }
  return tensor(DType::F32, std::move(shape), values);
}

inline std::vector<Dim> fresh(graph::Graph& g, int count) {
  std::vector<Dim> dims;
  for (int i = 0; i < count; ++i) dims.emplace_back(g.fresh_symbol("own", {0, kDimInf}));
  return dims;
}

}  // namespace tenon::legalize
