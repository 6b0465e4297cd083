// See prelude.h.
#include "codegen/cuda/prelude.h"

namespace tenon::codegen::cuda {

std::string_view scalar_prelude() {
  return R"(typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef float f32;
typedef double f64;

#define INLINE static __device__ __forceinline__
#define inf_f32 __int_as_float(0x7f800000)
#define nan_f32 __int_as_float(0x7fffffff)
#define inf_f64 __longlong_as_double(0x7ff0000000000000ll)
#define nan_f64 __longlong_as_double(0x7fffffffffffffffll)

// Indices, of 32 bits where the bounds allow it.
template <typename T> INLINE T not_zero(T a) { return a == 0 ? 1 : a; }
template <typename T> INLINE T floordiv(T a, T b) {
  return a / b - (a % b != 0 && (a ^ b) < 0 ? 1 : 0);
}
template <typename T> INLINE T least(T a, T b) { return a < b ? a : b; }
template <typename T> INLINE T most(T a, T b) { return a > b ? a : b; }
// An index found at run time: from the end where negative; outside, the first is reported and 0
// used instead.
INLINE i64 checked_index(i64 value, i64 extent, u64 argument, u64 *fault, u64 step) {
  const i64 at = value < 0 ? value + extent : value;
  if ((u64)at < (u64)extent) return at;
  if (atomicCAS(fault, 0ull, argument) == 0) {
    fault[1] = (u64)value;
    fault[2] = (u64)extent;
    fault[3] = step;
  }
  return 0;
}

// The same bits as another type.
template <typename To, typename From> INLINE To bits_as(From x) {
  union { From from; To to; } both;
  both.from = x;
  return both.to;
}

#define NUMBER(T)                                        \
  INLINE T min_##T(T a, T b) { return a < b ? a : b; }   \
  INLINE T max_##T(T a, T b) { return a > b ? a : b; }
NUMBER(i8) NUMBER(i16) NUMBER(i32) NUMBER(i64)
NUMBER(u8) NUMBER(u16) NUMBER(u32) NUMBER(u64)
NUMBER(f32) NUMBER(f64)
// Division truncates; by zero it is 0, and the smallest integer by -1 is itself.
#define UNSIGNED(T)                                            \
  INLINE T div_##T(T a, T b) { return b == 0 ? 0 : a / b; }    \
  INLINE T abs_##T(T a) { return a; }
#define SIGNED(T, U)                                                                 \
  INLINE T div_##T(T a, T b) { return b == 0 ? 0 : b == -1 ? (T)(0 - (U)a) : a / b; } \
  INLINE T abs_##T(T a) { return a < 0 ? (T)(0 - (U)a) : a; }
UNSIGNED(u8) UNSIGNED(u16) UNSIGNED(u32) UNSIGNED(u64)
SIGNED(i8, u32) SIGNED(i16, u32) SIGNED(i32, u32) SIGNED(i64, u64)
// Floats to integers: toward zero, NaN is 0, what is out of range the nearest that is not.
#define SATURATE(F, T, below, above, least_value, most_value)                       \
  INLINE T T##_of_##F(F x) {                                                        \
    return x > below && x < above ? (T)x : x >= above ? most_value : x <= below ? least_value : 0; \
  }
#define SATURATE_ALL(F)                                                             \
  SATURATE(F, i8, -0x1p7f, 0x1p7f, -128, 127)                                       \
  SATURATE(F, i16, -0x1p15f, 0x1p15f, -32768, 32767)                                \
  SATURATE(F, i32, -0x1p31f, 0x1p31f, -2147483647 - 1, 2147483647)                  \
  SATURATE(F, i64, -0x1p63f, 0x1p63f, -9223372036854775807ll - 1, 9223372036854775807ll) \
  SATURATE(F, u8, -1.f, 0x1p8f, 0, 255)                                             \
  SATURATE(F, u16, -1.f, 0x1p16f, 0, 65535)                                         \
  SATURATE(F, u32, -1.f, 0x1p32f, 0, 4294967295u)                                   \
  SATURATE(F, u64, -1.f, 0x1p64f, 0, 18446744073709551615ull)
SATURATE_ALL(f32)
SATURATE_ALL(f64)

INLINE f32 abs_f32(f32 x) { return fabsf(x); }
INLINE f64 abs_f64(f64 x) { return fabs(x); }
INLINE f32 floor_f32(f32 x) { return floorf(x); }
INLINE f64 floor_f64(f64 x) { return floor(x); }
INLINE f32 round_f32(f32 x) { return rintf(x); }
INLINE f64 round_f64(f64 x) { return rint(x); }
INLINE f32 sqrt_f32(f32 x) { return __fsqrt_rn(x); }
INLINE f64 sqrt_f64(f64 x) { return __dsqrt_rn(x); }
INLINE f32 fma_f32(f32 a, f32 b, f32 c) { return __fmaf_rn(a, b, c); }
INLINE f64 fma_f64(f64 a, f64 b, f64 c) { return __fma_rn(a, b, c); }
INLINE f32 pow2_f32(f32 x) { return __uint_as_float((u32)((i32)x + 127) << 23); }
// By two factors: the first product is exact.
INLINE f32 scale_f32(f32 x, f32 n) {
  const i32 whole = (i32)n, half = whole >> 1;
  return x * __uint_as_float((u32)(half + 127) << 23) *
         __uint_as_float((u32)(whole - half + 127) << 23);
}
INLINE f32 exponent_f32(f32 x) { return (f32)((i32)(__float_as_uint(x) >> 23 & 255) - 127); }
INLINE f32 mantissa_f32(f32 x) {
  return __uint_as_float((__float_as_uint(x) & 0x7fffff) | 0x3f800000);
}
INLINE f32 f32_of_bf16(u16 x) { return __uint_as_float((u32)x << 16); }

// Elements that lie side by side, moved by accesses of up to 16 bytes where the address is aligned.
template <int bytes> struct Piece;
template <> struct Piece<16> { typedef uint4 type; };
template <> struct Piece<8> { typedef uint2 type; };
template <> struct Piece<4> { typedef u32 type; };
template <> struct Piece<2> { typedef u16 type; };
template <typename T, int n> struct alignas(n * sizeof(T) < 16 ? n * sizeof(T) : 16) Lanes {
  static constexpr int bytes = n * sizeof(T) < 16 ? n * sizeof(T) : 16;
  static constexpr int pieces = n * sizeof(T) / bytes;
  typedef typename Piece<bytes>::type Part;
  T at[n];
};
template <int bytes, typename T> INLINE bool is_aligned(const T *p) {
  return ((u64)p & (bytes - 1)) == 0;
}
template <typename T, int n> INLINE Lanes<T, n> load_lanes(const T *p, bool aligned) {
  typedef typename Lanes<T, n>::Part Part;
  Lanes<T, n> result;
  if (aligned) {
#pragma unroll
    for (int i = 0; i < Lanes<T, n>::pieces; ++i) ((Part *)&result)[i] = ((const Part *)p)[i];
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) result.at[i] = p[i];
  }
  return result;
}
// Of memory that the kernel does not write.
template <typename T, int n> INLINE Lanes<T, n> load_constant_lanes(const T *p, bool aligned) {
  typedef typename Lanes<T, n>::Part Part;
  Lanes<T, n> result;
  if (aligned) {
#pragma unroll
    for (int i = 0; i < Lanes<T, n>::pieces; ++i) ((Part *)&result)[i] = __ldg((const Part *)p + i);
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) result.at[i] = __ldg(p + i);
  }
  return result;
}
// Element by element, in little code.
template <int n, typename T> INLINE void copy_elements(T *to, const T *from) {
#pragma unroll 1
  for (int i = 0; i < n; ++i) to[i] = from[i];
}
template <typename T, int n> INLINE void store_lanes(T *p, bool aligned, const Lanes<T, n> &x) {
  typedef typename Lanes<T, n>::Part Part;
  if (aligned) {
#pragma unroll
    for (int i = 0; i < Lanes<T, n>::pieces; ++i) ((Part *)p)[i] = ((const Part *)&x)[i];
  } else {
#pragma unroll
    for (int i = 0; i < n; ++i) p[i] = x.at[i];
  }
}
)";
}

}  // namespace tenon::codegen::cuda
