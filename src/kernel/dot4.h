// The products of two groups of four bytes, added to an i32: what CPUs with AVX512-VNNI have one
// instruction for (vpdpbusd). A group is a u32, its first element in the low byte; those of the
// first operand are u8, those of the second one i8. Nothing saturates: sums wrap, so every order of
// additions gives the same bits.
#pragma once

#include <cstdint>

namespace tenon::kernel {

inline int32_t dot4(uint32_t a, uint32_t b, int32_t sum) {
  auto bits = static_cast<uint32_t>(sum);
  for (int shift = 0; shift < 32; shift += 8) {
    const int32_t x = static_cast<uint8_t>(a >> shift), y = static_cast<int8_t>(b >> shift);
    bits += static_cast<uint32_t>(x * y);
  }
  return static_cast<int32_t>(bits);
}

}  // namespace tenon::kernel
