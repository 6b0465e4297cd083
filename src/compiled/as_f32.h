// Elements of any dtype as f32, and back.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tenon/dtype.h"

namespace tenon::compiled {

std::vector<float> as_f32(DType dtype, std::span<const std::byte> elements);
std::vector<std::byte> from_f32(DType dtype, std::span<const float> elements);

}  // namespace tenon::compiled
