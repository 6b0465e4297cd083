// Tensors written as literals, and read back, for the tests of the graph.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "graph/interpret.h"

namespace tenon::graph {

inline Tensor tensor(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  Tensor result{dtype, std::move(shape), {}};
  const auto size = static_cast<size_t>(size_of(dtype));
  result.bytes.resize(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i) {
    store_from_f64(dtype, result.bytes.data() + i * size, values[i]);
  }
  return result;
}

inline Tensor f32(std::vector<int64_t> shape, const std::vector<double>& values) {
  return tensor(DType::F32, std::move(shape), values);
}

inline Tensor i64(std::vector<int64_t> shape, const std::vector<double>& values) {
  return tensor(DType::I64, std::move(shape), values);
}

inline std::vector<double> numbers(const Tensor& tensor) {
  std::vector<double> result;
  const auto size = static_cast<size_t>(size_of(tensor.dtype));
  for (size_t at = 0; at < tensor.bytes.size(); at += size) {
    result.push_back(load_as_f64(tensor.dtype, tensor.bytes.data() + at));
  }
  return result;
}

inline void expect_near(const Tensor& actual, const std::vector<double>& expected,
                        double tolerance = 1e-6) {
  const std::vector<double> values = numbers(actual);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(values[i], expected[i], tolerance) << i;
}

// The message of the error that `f` must throw, with its kind in front.
inline std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& error) {
    constexpr const char* kKinds[] = {"User ", "Unsupported ", "Internal "};
    return kKinds[static_cast<int>(error.kind())] + std::string(error.what());
  }
  return "no error";
}

}  // namespace tenon::graph
