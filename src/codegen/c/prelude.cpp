// See prelude.h.
#include "codegen/c/prelude.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "codegen/c/vector_builtins.h"

namespace tenon::codegen::c {
namespace {

// GCC makes calls of loops that copy or fill memory; clang does not where nothing is built in.
constexpr const char* kNoCalls = R"(#ifndef __clang__
#pragma GCC optimize("no-tree-loop-distribute-patterns")
#endif
)";

constexpr const char* kTypes = R"(
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef float f32;
typedef double f64;

#define INLINE static inline __attribute__((always_inline, unused))
// Tv in registers, Tm in memory at any address.
#define VECTOR(T)                                                 \
  typedef T T##v __attribute__((vector_size(LANES * sizeof(T)))); \
  typedef T T##m __attribute__((vector_size(LANES * sizeof(T)), aligned(sizeof(T)), may_alias)); \
  INLINE T##v splat_##T(T x) { return (T##v){REPEAT(x)}; }
VECTOR(i8) VECTOR(i16) VECTOR(i32) VECTOR(i64)
VECTOR(u8) VECTOR(u16) VECTOR(u32) VECTOR(u64)
VECTOR(f32) VECTOR(f64)
#define CONVERT(x, T) __builtin_convertvector(x, T)
#define MASK(x) __builtin_convertvector(x, i32v)
)";

constexpr const char* kIndices = R"(
INLINE i64 not_zero(i64 a) { return a == 0 ? 1 : a; }
INLINE i64 floordiv(i64 a, i64 b) { return a / b - (a % b != 0 && (a ^ b) < 0); }
INLINE i64 least(i64 a, i64 b) { return a < b ? a : b; }
INLINE i64 most(i64 a, i64 b) { return a > b ? a : b; }
// The lanes with 0 <= first + lane < bound, a bit each.
INLINE u32 lane_bits(i64 first, i64 bound) {
  const i64 begin = least(most(-first, 0), 16), end = least(most(bound - first, 0), 16);
  return ((1u << end) - 1) & ~((1u << begin) - 1);
}
INLINE i32v mask_of_bits(u32 bits) {
  return -(i32v)((splat_u32(bits) >> (u32v){IOTA}) & splat_u32(1));
}
// The elements whose bit is set; no other is read or written.
#define COPY_SOME(T)                                                                 \
  static __attribute__((noinline, unused)) void copy_some_##T(T *to, const T *from, u32 bits) { \
    for (; bits; bits &= bits - 1) to[__builtin_ctz(bits)] = from[__builtin_ctz(bits)];         \
  }
COPY_SOME(u8) COPY_SOME(u16) COPY_SOME(u32) COPY_SOME(u64)
// An index found at run time: from the end where negative; outside it is reported and 0 instead.
INLINE i64 checked_index(i64 value, i64 extent, i64 argument, i64 *fault) {
  const i64 at = value < 0 ? value + extent : value;
  if ((u64)at < (u64)extent) return at;
  fault[1] = value, fault[2] = extent, fault[0] = argument;
  return 0;
}
)";

constexpr const char* kArithmetic = R"(
// I: the signed integer of T's size, which comparisons of Tv give.
#define NUMBER(T, I)                                                                     \
  INLINE T##v blend_##T(I##v m, T##v a, T##v b) {                                        \
    return (T##v)(((I##v)a & m) | ((I##v)b & ~m));                                       \
  }                                                                                      \
  INLINE T##v select_##T##v(i32v m, T##v a, T##v b) { return blend_##T(CONVERT(m, I##v), a, b); } \
  INLINE T min_##T(T a, T b) { return a < b ? a : b; }                                   \
  INLINE T max_##T(T a, T b) { return a > b ? a : b; }                                   \
  INLINE T##v min_##T##v(T##v a, T##v b) { return blend_##T(a < b, a, b); }              \
  INLINE T##v max_##T##v(T##v a, T##v b) { return blend_##T(a > b, a, b); }
NUMBER(i8, i8) NUMBER(i16, i16) NUMBER(i32, i32) NUMBER(i64, i64)
NUMBER(u8, i8) NUMBER(u16, i16) NUMBER(u32, i32) NUMBER(u64, i64)
NUMBER(f32, i32) NUMBER(f64, i64)
// Division truncates; by zero it is 0, and the smallest integer by -1 is itself.
#define UNSIGNED(T)                                                                 \
  INLINE T div_##T(T a, T b) { return b == 0 ? 0 : a / b; }                         \
  INLINE T##v div_##T##v(T##v a, T##v b) {                                          \
    const T##v zero = {}, quotient = a / blend_##T(b == zero, splat_##T(1), b);     \
    return blend_##T(b == zero, zero, quotient);                                    \
  }                                                                                 \
  INLINE T abs_##T(T a) { return a; }                                               \
  INLINE T##v abs_##T##v(T##v a) { return a; }
#define SIGNED(T)                                                                   \
  INLINE T div_##T(T a, T b) { return b == 0 ? 0 : b == -1 ? -a : a / b; }          \
  INLINE T##v div_##T##v(T##v a, T##v b) {                                          \
    const T##v zero = {}, negative = b == splat_##T(-1);                            \
    const T##v quotient = a / blend_##T((b == zero) | negative, splat_##T(1), b);   \
    return blend_##T(b == zero, zero, blend_##T(negative, -a, quotient));           \
  }                                                                                 \
  INLINE T abs_##T(T a) { return a < 0 ? -a : a; }                                  \
  INLINE T##v abs_##T##v(T##v a) { return blend_##T(a < (T##v){}, -a, a); }
UNSIGNED(u8) UNSIGNED(u16) UNSIGNED(u32) UNSIGNED(u64)
SIGNED(i8) SIGNED(i16) SIGNED(i32) SIGNED(i64)
// Floats to integers: toward zero, NaN is 0, what is out of range the nearest that is not.
#define SATURATE(F, G, T, below, above, least_value, most_value)                    \
  INLINE T T##_of_##F(F x) {                                                        \
    return x > below && x < above ? (T)x : x >= above ? most_value : x <= below ? least_value : 0; \
  }                                                                                 \
  INLINE T##v T##_of_##F##v(F##v x) {                                               \
    const G##v high = x >= splat_##F(above), low = x <= splat_##F(below);           \
    const G##v inside = (x > splat_##F(below)) & (x < splat_##F(above));            \
    const T##v whole = CONVERT((F##v)((G##v)x & inside), T##v);                     \
    return select_##T##v(MASK(high), splat_##T(most_value),                         \
                         select_##T##v(MASK(low), splat_##T(least_value), whole));  \
  }
#define SATURATE_ALL(F, G)                                                          \
  SATURATE(F, G, i8, -0x1p7f, 0x1p7f, -128, 127)                                    \
  SATURATE(F, G, i16, -0x1p15f, 0x1p15f, -32768, 32767)                             \
  SATURATE(F, G, i32, -0x1p31f, 0x1p31f, -2147483647 - 1, 2147483647)               \
  SATURATE(F, G, i64, -0x1p63f, 0x1p63f, -9223372036854775807l - 1, 9223372036854775807l) \
  SATURATE(F, G, u8, -1.f, 0x1p8f, 0, 255)                                          \
  SATURATE(F, G, u16, -1.f, 0x1p16f, 0, 65535)                                      \
  SATURATE(F, G, u32, -1.f, 0x1p32f, 0, 4294967295u)                                \
  SATURATE(F, G, u64, -1.f, 0x1p64f, 0, 18446744073709551615ul)
SATURATE_ALL(f32, i32)
SATURATE_ALL(f64, i64)
)";

constexpr const char* kFloats = R"(
// Keeps a compiler from making one operation of two, for which it would call a library.
#define APART(T, x) ({ T apart = x; __asm__("" : "+x"(apart)); apart; })
#define inf_f32 __builtin_inff()
#define inf_f64 __builtin_inf()
#define nan_f32 __builtin_nanf("")
#define nan_f64 __builtin_nan("")
#define abs_f32 __builtin_fabsf
#define sqrt_f32 __builtin_sqrtf
#define round_f32(x) APART(f32, __builtin_roundevenf(x))
#define floor_f32(x) APART(f32, __builtin_floorf(x))
#define fma_f32 __builtin_fmaf
#define abs_f64 __builtin_fabs
#define sqrt_f64 __builtin_sqrt
#define round_f64(x) APART(f64, __builtin_roundeven(x))
#define floor_f64(x) APART(f64, __builtin_floor(x))
#define fma_f64 __builtin_fma
// The same bits as another type.
#define BITS(S, T, x) ({ union { S from; T to; } both = {x}; both.to; })
// f16 is its bits; the nearest f16 of an f32.
typedef _Float16 halfv __attribute__((vector_size(LANES * 2)));
INLINE f32 f32_of_f16(u16 x) { return APART(f32, (f32)BITS(u16, _Float16, x)); }
INLINE u16 f16_of_f32(f32 x) { return BITS(_Float16, u16, (_Float16)x); }
INLINE f32v abs_f32v(f32v x) { return (f32v)((u32v)x & splat_u32(0x7fffffff)); }
INLINE f64v abs_f64v(f64v x) { return (f64v)((u64v)x & splat_u64(0x7fffffffffffffff)); }
INLINE f32 pow2_f32(f32 x) { return BITS(u32, f32, (u32)((i32)x + 127) << 23); }
INLINE f32v pow2_f32v(f32v x) { return (f32v)((u32v)(CONVERT(x, i32v) + splat_i32(127)) << 23); }
// By two factors: the first product is exact.
INLINE f32 scale_f32(f32 x, f32 n) {
  const i32 whole = (i32)n, half = whole >> 1;
  return x * BITS(u32, f32, (u32)(half + 127) << 23) *
         BITS(u32, f32, (u32)(whole - half + 127) << 23);
}
INLINE f32v scale_f32v(f32v x, f32v n) {
  const i32v whole = CONVERT(n, i32v), half = whole >> 1, bias = splat_i32(127);
  return x * (f32v)((u32v)(half + bias) << 23) * (f32v)((u32v)(whole - half + bias) << 23);
}
INLINE f32 exponent_f32(f32 x) { return (f32)((i32)(BITS(f32, u32, x) >> 23 & 255) - 127); }
INLINE f32v exponent_f32v(f32v x) {
  return CONVERT((i32v)(((u32v)x >> 23) & splat_u32(255)) - splat_i32(127), f32v);
}
INLINE f32 mantissa_f32(f32 x) { return BITS(u32, f32, (BITS(f32, u32, x) & 0x7fffff) | 0x3f800000); }
// Products of two bf16, of four bytes, added to c. As text: compilers disagree on the types of their
// functions.
#define DOT(type, instruction, a, b, c) ({                                  \
  type sum = c;                                                             \
  __asm__(instruction " %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));          \
  sum; })
#define dot2_f32v(a, b, c) DOT(f32v, "vdpbf16ps", a, b, c)
#define dot2_f32(a, b, c) (dot2_f32v(splat_u32(a), splat_u32(b), splat_f32(c))[0])
#define dot4_i32v(a, b, c) DOT(i32v, "vpdpbusd", a, b, c)
#define dot4_i32(a, b, c) (dot4_i32v(splat_u32(a), splat_u32(b), splat_i32(c))[0])
INLINE f32v mantissa_f32v(f32v x) {
  return (f32v)(((u32v)x & splat_u32(0x7fffff)) | splat_u32(0x3f800000));
}
)";

}  // namespace

std::string prelude(int64_t lanes) {
  std::vector<std::string> repeat, iota;
  for (int64_t i = 0; i < lanes; ++i) repeat.emplace_back("x"), iota.push_back(std::to_string(i));
  return fmt::format("{}#define LANES {}\n#define REPEAT(x) {}\n#define IOTA {}\n", kNoCalls, lanes,
                     fmt::join(repeat, ", "), fmt::join(iota, ", ")) +
         kTypes + kIndices + kArithmetic + kFloats + vector_builtins(lanes);
}

}  // namespace tenon::codegen::c
