// The attributes that convolutions and pools share (kernel, strides, dilations, padding given or
// derived), resolved to where windows lie. Extents stay expressions over the model's symbols.
#pragma once

#include <vector>

#include "import/onnx/call.h"

namespace tenon::onnx {

struct WindowAttributes {
  std::vector<int64_t> strides, dilations;
  std::vector<Dim> kernel, begins, ends;
  std::vector<Dim> extents;  // of the result

  // Attributes of a window op of the graph: extents, begins, strides, dilations.
  graph::Attributes common() const;
};

// An attribute with one entry for each spatial axis; `otherwise` for all where it is absent.
std::vector<int64_t> axis_numbers(Call& call, std::string_view name, size_t count,
                                  int64_t otherwise);
// `kernel_shape`, or the last extents of the weights.
std::vector<Dim> kernel_of(Call& call, Value weights);
// Of a window op over `x`; `ceil` is the pools' ceil_mode.
WindowAttributes window_attributes(Call& call, Value x, std::vector<Dim> kernel, bool ceil);
// Of the transpose, whose windows lie over the result.
WindowAttributes transposed_window_attributes(Call& call, Value x, std::vector<Dim> kernel);

// Extents that a step defines when it runs.
std::vector<Dim> fresh_extents(Call& call, const std::string& stem, size_t count);
Dim fresh_extent(Call& call, const std::string& stem);
// The one element of an integer operand, where it is known before the model runs.
std::optional<Dim> known_scalar(Value value);

// One axis as the channels of an image of this rank: [1, n, 1, ...].
Value per_channel(Call& call, Value vector, int rank);
// An image whose channels are the second axis or the last one, as the other.
Value channels_first(Call& call, Value x);
Value channels_last(Call& call, Value x);

}  // namespace tenon::onnx
