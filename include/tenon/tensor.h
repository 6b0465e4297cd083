// Tensors of the caller's: views of memory, and results that own theirs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tenon/dtype.h"

namespace tenon {

// The element type of a C++ type.
template <typename T>
constexpr DType dtype_of() = delete;
template <>
constexpr DType dtype_of<float>() {
  return DType::F32;
}
template <>
constexpr DType dtype_of<double>() {
  return DType::F64;
}
template <>
constexpr DType dtype_of<int8_t>() {
  return DType::I8;
}
template <>
constexpr DType dtype_of<int16_t>() {
  return DType::I16;
}
template <>
constexpr DType dtype_of<int32_t>() {
  return DType::I32;
}
template <>
constexpr DType dtype_of<int64_t>() {
  return DType::I64;
}
template <>
constexpr DType dtype_of<uint8_t>() {
  return DType::U8;
}
template <>
constexpr DType dtype_of<uint16_t>() {
  return DType::U16;
}
template <>
constexpr DType dtype_of<uint32_t>() {
  return DType::U32;
}
template <>
constexpr DType dtype_of<uint64_t>() {
  return DType::U64;
}
template <>
constexpr DType dtype_of<bool>() {
  return DType::Bool;
}

// Memory of the caller's.
struct TensorView {
  const void* data = nullptr;
  DType dtype{};
  std::vector<int64_t> shape = {};
  // Where given: how many elements each axis takes in memory, at least as many as shape has. Empty:
  // the memory is dense.
  std::vector<int64_t> capacity = {};
  // Elements whose shape is not said: good where the model says it, with nothing symbolic in it.
  // -1: shape says it.
  int64_t elements = -1;

  TensorView() = default;
  TensorView(const void* data, DType dtype, std::vector<int64_t> shape,
             std::vector<int64_t> capacity = {})
      : data(data), dtype(dtype), shape(std::move(shape)), capacity(std::move(capacity)) {}
  template <typename T>
  TensorView(std::span<const T> elements)  // NOLINT(google-explicit-constructor)
      : data(elements.data()),
        dtype(dtype_of<T>()),
        elements(static_cast<int64_t>(elements.size())) {}
  template <typename T>
  TensorView(const std::vector<T>& elements)  // NOLINT(google-explicit-constructor)
      : TensorView(std::span<const T>(elements)) {}
};

struct MutableTensorView {
  void* data = nullptr;
  DType dtype{};
  std::vector<int64_t> shape;
  std::vector<int64_t> capacity = {};
};

template <typename T>
TensorView view(const std::vector<T>& data, std::vector<int64_t> shape) {
  return {data.data(), dtype_of<T>(), std::move(shape)};
}
template <typename T>
TensorView view(std::span<const T> data, std::vector<int64_t> shape) {
  return {data.data(), dtype_of<T>(), std::move(shape)};
}

// A result, owned.
struct OwnedTensor {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;
  std::vector<std::byte> bytes;
  template <typename T>
  std::span<const T> as() const {  // another dtype is an Error
    check_dtype(dtype_of<T>());
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }

 private:
  void check_dtype(DType wanted) const;
};

using NamedInputs = std::map<std::string, TensorView>;
using NamedOutputs = std::map<std::string, MutableTensorView>;

}  // namespace tenon
