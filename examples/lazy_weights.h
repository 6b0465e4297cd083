// What the examples of layers share: weights by a formula that tests/python/write_lazy_examples.py
// has too, and the comparison with what that has computed with NumPy.
#pragma once

#include <cstdio>
#include <string>

#include "tenon/tenon.h"

namespace examples {

// From -scale / 2 to scale / 2, in an order that looks random.
inline tenon::Tensor weights(const std::vector<int64_t>& shape, int64_t seed, double scale = 1) {
  int64_t count = 1;
  for (const int64_t extent : shape) count *= extent;
  const tenon::Tensor numbers = (tenon::Tensor::arange(count) * 7919 + seed * 104729) % 1000;
  const tenon::Tensor values = (numbers.cast(tenon::DType::F32) / 1000 - 0.5) * scale;
  return values.reshape({shape.begin(), shape.end()}).realize();
}

// Prints how far they are from what a .npy file holds; 0 where that is near enough.
inline int compare(const std::string& what, const tenon::Tensor& values, const std::string& file) {
  const tenon::Tensor expected = tenon::Tensor::load_npy(file);
  const auto off = (values - expected).abs().max().realize().item<float>();
  std::printf("%s %s: %s\n", what.c_str(), values.type().to_string().c_str(),
              off < 2e-5F ? "as NumPy has it" : "not as NumPy has it");
  return off < 2e-5F ? 0 : 1;
}

}  // namespace examples
