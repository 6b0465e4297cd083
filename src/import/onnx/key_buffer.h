// Keys and values in a buffer with room for more: how many it holds is data, its extent stays.
#pragma once

#include "import/onnx/call.h"

namespace tenon::onnx {

struct KeyBuffer {
  Dim capacity;       // the third axis of the buffer
  Dim fresh;          // keys that a step adds
  Value before = {};  // i32[1]: keys that it held

  // `past` [batch, heads, capacity, width] with `added` [.., fresh, ..] behind what it held. A step
  // that does not fit is an error of the run.
  Value written(Call& call, Value past, Value added) const;
  // Zeros where nothing was written, so that what lies there (a NaN) weighs nothing.
  Value cleared(Call& call, Value buffer) const;
  Value used(Call& call) const;  // bool[capacity]
};

// `past` has four axes; its length is `before`, one integer.
KeyBuffer key_buffer(Call& call, Value past, Value before, const Dim& fresh);

}  // namespace tenon::onnx
