#include "runtime/io_view.h"

#include <fmt/ranges.h>

#include <cstddef>
#include <cstring>

namespace tenon::runtime {
namespace {

void copy_axis(const std::byte*& from, std::byte* to, const IoView& view, size_t axis) {
  if (axis == view.shape.size()) {
    std::memcpy(to, from, static_cast<size_t>(size_of(view.dtype)));
    from += size_of(view.dtype);
    return;
  }
  int64_t stride = size_of(view.dtype);
  bool dense = true;  // what lies inside of this axis
  for (size_t i = axis + 1; i < view.shape.size(); ++i) {
    const int64_t capacity = view.capacity.empty() ? view.shape[i] : view.capacity[i];
    dense = dense && capacity == view.shape[i];
    stride *= capacity;
  }
  if (dense) {
    const int64_t bytes = view.shape[axis] * stride;
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    from += bytes;
    return;
  }
  for (int64_t i = 0; i < view.shape[axis]; ++i) copy_axis(from, to + i * stride, view, axis + 1);
}

}  // namespace

Result<int64_t> dense_bytes(DType dtype, std::span<const int64_t> shape) {
  int64_t bytes = size_of(dtype);
  for (const int64_t extent : shape) {
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return user_error("{}[{}] has more bytes than 64 bits can count", to_string(dtype),
                        fmt::join(shape, ", "));
    }
  }
  return bytes;
}

void copy_dense(const void* from, const IoView& to) {
  const auto* bytes = static_cast<const std::byte*>(from);
  copy_axis(bytes, static_cast<std::byte*>(to.data), to, 0);
}

}  // namespace tenon::runtime
