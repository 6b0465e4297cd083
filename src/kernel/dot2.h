// The product of two pairs of bf16, added to an f32: what CPUs with AVX512-BF16 have one
// instruction for (vdpbf16ps), to the bit. A pair is a u32, its first element in the low half. The
// second elements are multiplied first; each of the two steps is a fused multiply-add, rounded to
// nearest even, and denormal numbers count as zeros of their sign, as operands and as results.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace tenon::kernel {

inline float without_denormal(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0F, x) : x;
}

inline float dot2(uint32_t a, uint32_t b, float sum) {
  const auto first = [](uint32_t pair) {
    return without_denormal(std::bit_cast<float>(pair << 16));
  };
  const auto second = [](uint32_t pair) {
    return without_denormal(std::bit_cast<float>(pair & 0xffff0000U));
  };
  sum = without_denormal(std::fma(second(a), second(b), without_denormal(sum)));
  return without_denormal(std::fma(first(a), first(b), sum));
}

}  // namespace tenon::kernel
