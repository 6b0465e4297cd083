#include "compiled/as_f32.h"

#include <cstring>

namespace tenon::compiled {

std::vector<float> as_f32(DType dtype, std::span<const std::byte> elements) {
  const auto size = static_cast<size_t>(size_of(dtype));
  std::vector<float> result(elements.size() / size);
  if (dtype == DType::F32) {
    if (!result.empty()) std::memcpy(result.data(), elements.data(), elements.size());
    return result;
  }
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<float>(load_as_f64(dtype, elements.data() + i * size));
  return result;
}

std::vector<std::byte> from_f32(DType dtype, std::span<const float> elements) {
  const auto size = static_cast<size_t>(size_of(dtype));
  std::vector<std::byte> result(elements.size() * size);
  for (size_t i = 0; i < elements.size(); ++i)
    store_from_f64(dtype, result.data() + i * size, elements[i]);
  return result;
}

}  // namespace tenon::compiled
