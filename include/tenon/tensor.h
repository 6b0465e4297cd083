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

// Memory of the caller's. `capacity`, where given, has an extent per axis of how much memory the
// axis takes (at least shape); absent, the memory is dense.
struct TensorView {
  const void* data = nullptr;
  DType dtype{};
  std::vector<int64_t> shape;
  std::vector<int64_t> capacity = {};
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
