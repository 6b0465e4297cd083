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

// Copies from global to shared memory that nobody waits for until wait_for_copies; those between
// two calls of end_copies are a group, and `open` of the last groups may be under way afterwards.
// What is not `whole` is filled with 0, and its source is not touched.
template <typename T> INLINE u32 shared_address(const T *p) {
  return (u32)__cvta_generic_to_shared(p);
}
template <int bytes, typename T> INLINE void copy_ahead(T *to, const T *from, bool whole) {
  const i32 size = whole ? bytes : 0;
  if (bytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 ::"r"(shared_address(to)), "l"(from), "r"(size) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                 ::"r"(shared_address(to)), "l"(from), "n"(bytes == 16 ? 8 : bytes), "r"(size)
                 : "memory");
  }
}
INLINE void end_copies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int open> INLINE void wait_for_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(open) : "memory");
}

// 8 x 8 matrices of 16 bits, as the multiplications below take them.
INLINE void load_matrices(u32 *m, u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(address));
}
INLINE void load_matrices_turned(u32 *m, u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3]) : "r"(address));
}
INLINE void load_two_matrices(u32 *m, u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(m[0]), "=r"(m[1]) : "r"(address));
}
INLINE void load_two_matrices_turned(u32 *m, u32 address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(m[0]), "=r"(m[1]) : "r"(address));
}
// 16 x 8 sums += 16 x 16 of a times 16 x 8 of b; tf32: 16 x 8 times 8 x 8.
#define MULTIPLY(name, shape, type)                                                           \
  INLINE void multiply_##name(f32 *sum, const u32 *a, const u32 *b) {                         \
    asm("mma.sync.aligned." shape ".row.col.f32." type "." type ".f32 "                       \
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"                     \
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                              \
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));                  \
  }
MULTIPLY(bf16, "m16n8k16", "bf16")
MULTIPLY(f16, "m16n8k16", "f16")
MULTIPLY(tf32, "m16n8k8", "tf32")
INLINE u32 tf32_of_f32(f32 x) {
  u32 bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return bits;
}
)";
}

}  // namespace tenon::codegen::cuda
