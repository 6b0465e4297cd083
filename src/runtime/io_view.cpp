#include "runtime/io_view.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>

namespace tenon::runtime {
namespace {

int64_t capacity_of(const IoView& view, size_t axis) {
  return view.capacity.empty() ? view.shape[axis] : view.capacity[axis];
}

// `from` moves on over what is dense there, or stays in step with the view's memory.
void copy_axis(const std::byte*& from, std::byte* to, const IoView& view, size_t axis,
               bool from_is_dense) {
  if (axis == view.shape.size()) {
    std::memcpy(to, from, static_cast<size_t>(size_of(view.dtype)));
    from += size_of(view.dtype);
    return;
  }
  int64_t stride = size_of(view.dtype);
  bool dense = true;  // what lies inside of this axis
  for (size_t i = axis + 1; i < view.shape.size(); ++i) {
    dense = dense && capacity_of(view, i) == view.shape[i];
    stride *= capacity_of(view, i);
  }
  if (dense) {
    const int64_t bytes = view.shape[axis] * stride;
    if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
    from += bytes;
    return;
  }
  const std::byte* first = from;
  for (int64_t i = 0; i < view.shape[axis]; ++i) {
    if (!from_is_dense) from = first + i * stride;
    copy_axis(from, to + i * stride, view, axis + 1, from_is_dense);
  }
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

Result<int64_t> memory_bytes(const IoView& view) {
  int64_t bytes = size_of(view.dtype);
  for (size_t axis = 0; axis < view.shape.size(); ++axis) {
    const int64_t extent = axis == 0 ? view.shape[0] : capacity_of(view, axis);
    if (__builtin_mul_overflow(bytes, extent, &bytes)) {
      return user_error("{}[{}] has more bytes than 64 bits can count", to_string(view.dtype),
                        fmt::join(view.capacity.empty() ? view.shape : view.capacity, ", "));
    }
  }
  return bytes;
}

bool capacity_fits(const IoView& view) {
  return view.capacity.empty() ||
         std::ranges::equal(view.capacity, view.shape, std::greater_equal());
}

bool has_gaps(const IoView& view) {
  for (size_t axis = 1; axis < view.shape.size(); ++axis) {
    if (capacity_of(view, axis) != view.shape[axis]) return true;
  }
  return false;
}

void copy_dense(const void* from, const IoView& to) {
  const auto* bytes = static_cast<const std::byte*>(from);
  copy_axis(bytes, static_cast<std::byte*>(to.data), to, 0, true);
}

void copy_between_gaps(const void* from, const IoView& to) {
  const auto* bytes = static_cast<const std::byte*>(from);
  copy_axis(bytes, static_cast<std::byte*>(to.data), to, 0, false);
}

}  // namespace tenon::runtime
