// The elements of tensors, realized where they are not yet.
#pragma once

#include <cstdint>
#include <vector>

#include "tenon/lazy_tensor.h"

namespace tenon {

using Floats = std::vector<float>;
using Integers = std::vector<int64_t>;

inline Floats floats(const Tensor& tensor) { return tensor.realize().as_vec<float>(); }
inline Integers integers(const Tensor& tensor) { return tensor.realize().as_vec<int64_t>(); }

}  // namespace tenon
