// Windows that slide over an image, as index expressions: what convolutions and pools share. The
// window at position o has its tap t at o * stride + t * dilation - begin.
#pragma once

#include <vector>

#include "lower/region.h"

namespace tenon::lower {

struct Window {
  std::vector<Dim> image, result, kernel, begins;  // per spatial axis
  std::vector<int64_t> strides, dilations;

  size_t rank() const { return kernel.size(); }
  Dim taps() const;
  Dim positions() const;
  // Where a tap lies, and the guards that this is inside the image, where that is not certain.
  Index at(const Index& position, const Index& tap) const;
  std::vector<kernel::Guard> guards(const Index& at) const;
  bool always_inside(size_t axis) const;
  // How many taps of an axis lie in 0 .. extent - 1 when the window starts at `start`.
  Dim taps_inside(size_t axis, const Dim& start, const Dim& extent) const;
};

// Of an op with the window attributes.
Window window_of(const graph::Node& node, std::vector<Dim> image, std::vector<Dim> kernel);
std::vector<Dim> spatial(const Shape& shape);  // from the third axis on

// The index of the element at row-major position `linear`.
Index delinearize(const Dim& linear, const std::vector<Dim>& extents);

// The value where all guards hold, 0 elsewhere; nothing is read there.
kernel::ExprRef zero_outside(kernel::ExprRef value, const std::vector<kernel::Guard>& guards);
// Whether all guards hold; null: always.
kernel::ExprRef inside(const std::vector<kernel::Guard>& guards);

}  // namespace tenon::lower
