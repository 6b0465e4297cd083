// An input or output as the runtime sees it: memory of the caller's, with extents and capacities by
// axis.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "tenon/dtype.h"

namespace tenon::runtime {

struct IoView {
  void* data = nullptr;  // inputs are only read
  DType dtype = DType::F32;
  std::span<const int64_t> shape;
  std::span<const int64_t> capacity;  // empty: dense
  bool on_device = false;             // `data` is memory of the device that runs the program
  // A dense output of a device that copies: `data` is what this has reserved, and what arrives is
  // appended to it.
  std::vector<std::byte>* appended_to = nullptr;
};

// Of a dense tensor; a User error where 64 bits do not hold it.
Result<int64_t> dense_bytes(DType dtype, std::span<const int64_t> shape);

// Of the view's memory from its first to its last element, gaps included.
Result<int64_t> memory_bytes(const IoView& view);
// Whether its capacity, where it has one, is of the shape's rank and nowhere below it.
bool capacity_fits(const IoView& view);
bool has_gaps(const IoView& view);  // of one that fits

// Copies a dense tensor of the view's shape into the view's memory, row by row where capacity is
// larger than the extent.
void copy_dense(const void* from, const IoView& to);
// Likewise from memory with the gaps that the view has; what is in the view's gaps is kept.
void copy_between_gaps(const void* from, const IoView& to);

}  // namespace tenon::runtime
