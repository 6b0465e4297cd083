// The part of the prelude that is PTX: what only this machine has instructions for.
#include "codegen/cuda/prelude.h"

namespace tenon::codegen::cuda {

std::string_view device_prelude() {
  return R"(
INLINE u16 bf16_of_f32(f32 x) {
  u16 bits;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
INLINE u16 f16_of_f32(f32 x) {
  u16 bits;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
  return bits;
}
INLINE f32 f32_of_f16(u16 bits) {
  f32 x;
  asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
  return x;
}
// The value of the thread whose number differs by `half`, within a warp.
INLINE i32 other(u32 mask, i32 x, i32 half) { return __shfl_xor_sync(mask, x, half); }
INLINE u32 other(u32 mask, u32 x, i32 half) { return __shfl_xor_sync(mask, x, half); }
INLINE i64 other(u32 mask, i64 x, i32 half) { return __shfl_xor_sync(mask, x, half); }
INLINE u64 other(u32 mask, u64 x, i32 half) { return __shfl_xor_sync(mask, x, half); }
INLINE f32 other(u32 mask, f32 x, i32 half) { return __shfl_xor_sync(mask, x, half); }
INLINE f64 other(u32 mask, f64 x, i32 half) { return __shfl_xor_sync(mask, x, half); }
INLINE i8 other(u32 mask, i8 x, i32 half) { return (i8)other(mask, (i32)x, half); }
INLINE u8 other(u32 mask, u8 x, i32 half) { return (u8)other(mask, (i32)x, half); }
INLINE i16 other(u32 mask, i16 x, i32 half) { return (i16)other(mask, (i32)x, half); }
INLINE u16 other(u32 mask, u16 x, i32 half) { return (u16)other(mask, (i32)x, half); }
)";
}

}  // namespace tenon::codegen::cuda
