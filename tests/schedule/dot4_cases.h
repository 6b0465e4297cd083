// Contractions of bytes as lowering writes them, for the tests of products of groups of four; and
// both kinds of groups by name.
#pragma once

#include "schedule/dots.h"
#include "tests/schedule/dot2_cases.h"

namespace tenon::kernel_test {

// y[m, n] = cast(f32, x[m, depth] * w[depth, n] - v[n]) * scale[m], of u8 by i8.
inline Case byte_linear_case(int64_t depth, int64_t n, std::vector<int64_t> rows) {
  return {fmt::format("Bytes{}x{}", depth, n),
          fmt::format(R"(kernel product lowered dims m: 1..65536
  buffer x: u8[m*{0}] global argument 0
  buffer w: i8[{2}] global argument 1 constant
  buffer v: i32[{1}] global argument 2 constant
  buffer scale: f32[m] global argument 3
  buffer y: f32[m*{1}] global argument 4 written
  flops m*{2}
  parallel i in m
    parallel j in {1}
      y[i*{1} + j] = mul(cast(f32, sub(reduce_fma(k in {0}, cast(i32, x[i*{0} + k]), cast(i32, w[j + k*{1}]), i32(0)), v[j])), scale[i])
)",
                      depth, n, depth * n),
          each("m", rows)};
}

// Both operands of a batch are data, the right one transposed, and the depth is known at run time.
inline Case byte_batched_case() {
  Case result = bf16_batched_case();
  result.name = "BatchedBytes";
  result.text = R"(kernel scores lowered dims b: 1..64, d: 1..4096, m: 1..512
  buffer x: u8[b*d*m] global argument 0
  buffer z: i8[b*d*m] global argument 1
  buffer y: i32[b*m*m] global argument 2 written
  flops b*d*m*m
  parallel h in b
    parallel i in m
      parallel j in m
        y[h*m*m + i*m + j] = reduce_fma(k in d, cast(i32, x[h*m*d + i*d + k]), cast(i32, z[h*m*d + j*d + k]), i32(0))
)";
  return result;
}

// Weights that are rounded to bytes while they are packed.
inline Case byte_of_f32_weights_case(int64_t depth) {
  return {fmt::format("RoundedBytes{}", depth),
          fmt::format(R"(kernel product lowered dims m: 1..65536
  buffer x: u8[m*{0}] global argument 0
  buffer w: f32[{1}] global argument 1 constant
  buffer y: i32[m*24] global argument 2 written
  flops m*{1}
  parallel i in m
    parallel j in 24
      y[i*24 + j] = reduce_fma(k in {0}, cast(i32, x[i*{0} + k]), cast(i32, cast(i8, round(mul(w[j + k*24], f32(40))))), i32(0))
)",
                      depth, depth * 24),
          each("m", {1, 14})};
}

// Two products of the same rows in one value.
inline Case byte_gated_case() {
  return {"GatedBytes", R"(kernel gated lowered dims m: 1..65536
  buffer x: u8[m*68] global argument 0
  buffer gate: i8[2720] global argument 1 constant
  buffer up: i8[2720] global argument 2 constant
  buffer y: i32[m*40] global argument 3 written
  flops m*2720
  parallel i in m
    parallel j in 40
      %0 = reduce_fma(k in 68, cast(i32, x[i*68 + k]), cast(i32, gate[j + k*40]), i32(0))
      %1 = reduce_fma(k in 68, cast(i32, x[i*68 + k]), cast(i32, up[j*68 + k]), i32(0))
      y[i*40 + j] = mul(max(%0, i32(0)), %1)
)",
          each("m", {1, 5, 13})};
}

inline std::vector<Case> dot4_cases() {
  return {byte_linear_case(64, 96, {1, 12, 40}),
          byte_linear_case(33, 40, {1, 2, 3, 5, 12, 13, 31}),
          byte_linear_case(1200, 40, {1, 5, 13}),
          byte_linear_case(1, 1, {1, 13}),
          byte_batched_case(),
          byte_gated_case(),
          byte_of_f32_weights_case(36),
          byte_of_f32_weights_case(38)};
}

// A kind of groups: its cases, and what makes products of them.
struct Dots {
  const char* name;  // of the step
  kernel::Kernel (*with)(const kernel::Kernel&);
  bool (*has)(const kernel::Kernel&);
  std::vector<Case> (*cases)();
};
inline constexpr Dots kDot2 = {"dot2", schedule::with_dot2, schedule::has_dot2, dot2_cases};
inline constexpr Dots kDot4 = {"dot4", schedule::with_dot4, schedule::has_dot4, dot4_cases};

struct DotCase {
  Dots dots;
  Case test;
};

inline std::vector<DotCase> dot_cases() {
  std::vector<DotCase> result;
  for (const Dots& dots : {kDot2, kDot4}) {
    for (const Case& test : dots.cases()) result.push_back({dots, test});
  }
  return result;
}

inline schedule::Target dots_target() {
  schedule::Target target = schedule::avx512_target(32 << 10, 1 << 20);
  target.dot2 = target.dot4 = true;
  return target;
}

}  // namespace tenon::kernel_test
