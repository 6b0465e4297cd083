// Windows that slide over an image: which element each tap of a window reads. What convolution,
// pooling and their inverses share, so that padding, strides and dilations are written once.
#pragma once

#include <span>
#include <vector>

#include "graph/evaluate.h"

namespace tenon::graph {

struct Windows {
  Extents image, result, kernel;  // spatial extents
  Extents begins, strides, dilations;

  int64_t taps() const { return element_count(kernel); }
  int64_t positions() const { return element_count(result); }
  // Where the taps of the windows `first` .. `first + count - 1` lie: offsets in the image, -1 for
  // those outside; the windows of one tap stand together, [tap][window].
  std::vector<int64_t> offsets(int64_t first, int64_t count) const;
};

// Of an op with the window attributes; the kernel is an attribute or the weights' last extents.
Windows windows_of(const Evaluation& e, std::span<const int64_t> kernel);

// Elements as 64-bit patterns: sums and products of integers that wrap.
std::vector<uint64_t> to_patterns(const Tensor& tensor);
Tensor from_patterns(DType dtype, Extents shape, std::span<const uint64_t> values);

// The extents from the third axis on.
std::span<const int64_t> spatial(const Tensor& tensor);
// The first two extents multiplied: images of one channel.
int64_t planes(const Tensor& tensor);
// x's batch and channels, then these spatial extents.
Extents with_spatial(const Tensor& x, std::span<const int64_t> extents);

}  // namespace tenon::graph
